// --cudabacktrace, --osrt-backtrace-* and their like: native stacks of calls.
#pragma once

#include "base/status.h"
#include "cli/flags/flags.h"
#include "cli/flags/profile_options.h"

namespace batchlight::cli {

// After --trace was read.
Status ReadBacktraceOptions(const ParsedFlags& flags, ProfileOptions& options);

}  // namespace batchlight::cli
