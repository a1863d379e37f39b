// Loops that wait for the GPU value by value (a norm's .item() for each parameter). All of such a
// loop keeps the CPU from launching ahead, not its waits alone.
#pragma once

#include <vector>

#include "analysis/numbers/time_span.h"

namespace batchlight::advice {

struct WaitLoops {
  std::vector<TimeSpan> spans;  // from a loop's first wait to the end of its last one
  uint64_t waits = 0;           // in these
  int64_t waited_ns = 0;        // of their time
  int64_t total_ns = 0;
};

// Of waits by start, without overlap: where kWaitLoop follow each other at most kWaitLoopGapNs
// apart.
WaitLoops FindWaitLoops(const std::vector<TimeSpan>& waits);

}  // namespace batchlight::advice
