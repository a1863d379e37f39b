// How fast the ranks of a job would be without each other. That one waits for another says little
// where both launch at the same speed: without the wait its GPU would idle instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/breakdown/step_breakdown.h"
#include "analysis/ranks/late/slow_rank.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// What a rank needs for itself in each of its steps, as it is kept of thousands of ranks. Both
// empty: not known.
struct RankPace {
  // Its CPU, without what it waits there for its GPU: in calls that wait, and in launches into a
  // full queue.
  std::vector<uint32_t> cpu_us;
  std::vector<uint32_t> gpu_us;  // its GPU computes or copies; 0: nothing is known of a GPU

  bool empty() const { return cpu_us.empty(); }
};

// By row of steps.processes; `breakdowns` has a row for each of these.
std::vector<RankPace> MeasurePaces(const Store& store, const StepSet& steps,
                                   const std::vector<StepBreakdown>& breakdowns);

// A rank with what it needs for itself.
struct PacedRank {
  std::span<const int64_t> step_ns;  // of every step
  std::span<const uint32_t> steady;  // rows of the steps that count
  const RankPace* pace = nullptr;
  double communication_ns = 0;  // that nothing hides, without waiting; mean of a step that counts
};

// What the rank that the others wait for takes from them.
struct LateVerdict {
  // What a step would be shorter if it were as fast as the slowest of the others, ns; 0: that may
  // be chance.
  double lost_ns = 0;
  double longer_gpu_ns = 0;  // its GPU works longer than any other's, mean of a step
  bool on_gpu = false;       // which explains that they wait
};

// A rank that takes longer for a phase, or whose GPU does, takes from the others what they wait.
// Where nothing that it does takes longer, all may launch late: then it takes what a step is longer
// than on the slowest of the others, on its CPU or its GPU, whichever is longer, if that is more
// than chance. `ranks`: by row as in `slow`.
LateVerdict JudgeLateRank(const SlowRank& slow, std::span<const PacedRank> ranks);

}  // namespace batchlight
