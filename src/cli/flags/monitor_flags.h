// --monitor and the flags that go with it; the steps of `start --run`.
#pragma once

#include <string>

#include "capture/recording/options.h"
#include "cli/flags/flags.h"

namespace batchlight::cli {

// Errors: kUsage.
Result<capture::MonitorOptions> ReadMonitorFlags(const ParsedFlags& flags);

// A:B, both counted, from 1; +A:+B counts from `step`, in which the job is. Errors (kUsage): no
// such text, steps that are over, more than one request holds.
struct AskedSteps {
  uint64_t first = 0;
  uint64_t last = 0;
};
Result<AskedSteps> ParseAskedSteps(const std::string& text, uint64_t step);

}  // namespace batchlight::cli
