// What the rank that others wait for does in the steps in which it is late: the phase that it takes
// longer for than any other rank. And who that rank is, where no GPU shows it: ranks step in
// lockstep, so that what one takes longer for, the others spend waiting in backward.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/ranks/late/late_rank.h"
#include "analysis/ranks/late/phase_times.h"

namespace batchlight {

// The phases of one rank and its steps that are compared (common_steps.h), the n-th of each rank
// with that of the others.
struct RankPhases {
  std::span<const PhaseTimes> phases;
  std::span<const uint32_t> steady;
};

// Phases in which a rank may wait for another one: DistributedDataParallel reduces in backward.
bool MayWait(PhaseKind kind);

struct SlowRank {
  size_t rank = 0;                    // row of the ranks
  const PhaseTimes* phase = nullptr;  // what it takes longer for; nullptr: not known
  double longer_ns = 0;               // than the slowest of the others, median over late steps
  double waited_ns = 0;               // what each of the others waits, mean over all steps
  std::vector<uint32_t> late_steps;   // places in the steps that are compared
};

// With the phase, if it explains half of what the others wait.
SlowRank ExplainLateRank(std::span<const RankPhases> ranks, const LateRank& late);

// Of each rank, by step that is compared: what the others wait for it, as it takes longer for
// something.
std::vector<CostOfSteps> CostsByPhases(std::span<const RankPhases> ranks);
// And what it communicates longer than the rank that does so shortest: that one came last. Empty:
// not every rank has communication as a phase.
std::vector<std::vector<int64_t>> WaitsByPhases(std::span<const RankPhases> ranks);

std::optional<SlowRank> SlowByPhases(std::span<const RankPhases> ranks, double step_ns);

}  // namespace batchlight
