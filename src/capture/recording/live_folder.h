// The live folder of a recording, NAME.batchlight.live/: made before the program starts, removed
// once it is sealed, left in place when that fails.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight::capture {

inline constexpr char kLiveSuffix[] = ".batchlight.live";
inline constexpr char kRecordingSuffix[] = ".batchlight";

// Makes the folder. With `replace`, an existing folder that nobody writes into is emptied first;
// without, it is an error (kOutput) that says how to open it. `path` must end in kLiveSuffix.
Status CreateLiveFolder(const std::string& path, bool replace);

// Who still writes into the folder: "the batchlight that records it", "process 4711". Empty if
// nobody does.
std::string FindWriter(const std::string& path);

// Removes the folder and what the recorder puts into it. Other files, and then the folder, stay.
Status RemoveLiveFolder(const std::string& path);

// Paths of the folder's *.blp files, sorted by name.
Result<std::vector<std::string>> ListProcessFiles(const std::string& live_folder);

}  // namespace batchlight::capture
