// What the machine's own libraries know: the tool is linked statically and cannot load them, so it
// asks PREFIX/lib/batchlight/host_query (src/host), which is dynamic.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace batchlight::capture {

// The lines key=value that a child has printed, in its order.
using PrintedLines = std::vector<std::pair<std::string, std::string>>;
PrintedLines ReadPrintedLines(const std::string& text);
// The value of the first line with that key, or "".
std::string FirstValue(const PrintedLines& lines, const std::string& key);

struct HostAnswer {
  PrintedLines lines;
  bool known = true;  // false: there is no such thing
};

// Asks `words` (src/host/questions.h). Errors (kInput): the program is missing, does not start on
// this system, or was ended by a signal, as when the NVIDIA driver crashes or hangs.
Result<HostAnswer> AskHost(const std::vector<std::string>& words);

}  // namespace batchlight::capture
