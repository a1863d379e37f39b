#include "analysis/advice/gpu/wait_loops.h"

#include "analysis/advice/thresholds.h"

namespace batchlight::advice {

WaitLoops FindWaitLoops(const std::vector<TimeSpan>& waits) {
  WaitLoops loops;
  for (size_t first = 0; first < waits.size();) {
    size_t next = first + 1;
    int64_t waited_ns = waits[first].duration_ns();
    while (next < waits.size() &&
           double(waits[next].start_ns - waits[next - 1].end_ns) <= kWaitLoopGapNs) {
      waited_ns += waits[next++].duration_ns();
    }
    const uint64_t count = next - first;
    if (double(count) >= kWaitLoop) {
      loops.spans.push_back({waits[first].start_ns, waits[next - 1].end_ns});
      loops.waits += count;
      loops.waited_ns += waited_ns;
      loops.total_ns += loops.spans.back().duration_ns();
    }
    first = next;
  }
  return loops;
}

}  // namespace batchlight::advice
