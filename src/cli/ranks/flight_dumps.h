// `ranks` of the dumps of PyTorch's flight recorder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/desync/desync.h"
#include "base/status.h"

namespace batchlight::cli {

// Nothing: the words name no dump. A folder stands for the dumps in it, if it has no run.
// What cannot be read is left out, with a note. Errors (kInput): dumps beside something else, or
// none of them can be read.
Result<std::optional<DesyncResult>> TryFlightDumps(const std::vector<std::string>& words);

}  // namespace batchlight::cli
