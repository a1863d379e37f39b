// The inputs that words of a command line name: files, live folders, folders of them, patterns.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight {

// A folder stands for the recordings in it (sealed, and live ones that are not sealed yet); without
// one for the exports of nsys, without these for Kineto's traces: an export beside its recording is
// not a second run. A pattern (*, ?, [...]) that names no file itself stands for what it matches,
// shells that pass it on unexpanded included. Names that hold numbers come in order of these.
// Errors (kInput): a folder or pattern without any input.
Result<std::vector<std::string>> FindInputs(const std::vector<std::string>& words);

// A folder with runs in it, which is no live folder itself.
bool IsFolderOfRuns(const std::string& path);

}  // namespace batchlight
