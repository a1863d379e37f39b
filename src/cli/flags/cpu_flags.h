// --sample, --cpuctxsw, --python-sampling and what goes with them, as plain values.
#pragma once

#include "base/status.h"
#include "cli/flags/flags.h"
#include "cli/flags/profile_options.h"

namespace batchlight::cli {

Status ReadCpuOptions(const ParsedFlags& flags, ProfileOptions& options);
// After what is traced: samples of Python come with the rest of it.
Status ReadPythonSampling(const ParsedFlags& flags, ProfileOptions& options);

// Flags of these that `start` was given: threads that run already are not reached.
std::vector<std::string> CpuFlagsOfStart(const ParsedFlags& flags);

}  // namespace batchlight::cli
