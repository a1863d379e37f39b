// The runs that --measure-overhead makes before the one that is recorded and shown.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "capture/recording/options.h"

namespace batchlight::cli {

struct OverheadRuns {
  // Properties for the recording to come (analysis/run/measured_overhead.h).
  std::vector<std::pair<std::string, std::string>> facts;
  bool interrupted = false;  // by Ctrl-C or a signal: run nothing more
  bool others_know = false;  // as who is in the tool's group got it as well
  int exit_code = 0;         // of the run that was interrupted
};

// Each of the `rounds` rounds runs the program with only the ends of its steps recorded (which also
// warms the machine's caches), then alone, then recorded as `options` say; the very last of these
// runs is left to the caller. A program that fails when run alone ends the measurement, and the
// facts say so. Errors: what kept a run from starting.
Result<OverheadRuns> MeasureOverhead(const capture::SessionOptions& options, uint32_t rounds);

}  // namespace batchlight::cli
