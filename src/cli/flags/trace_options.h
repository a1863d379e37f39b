// The flags that say what is recorded: --trace, --pytorch, --python-functions-trace, --cuda-...,
// --nvtx-domain-...
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/flags/flags.h"

namespace batchlight::cli {

struct ProfileOptions;

// Errors are kUsage, or kInput for a list of functions that cannot be read.
Status ReadTraceOptions(const ParsedFlags& flags, ProfileOptions& options);

// The names of --trace that change what is recorded.
std::vector<std::string_view> TraceNames();

}  // namespace batchlight::cli
