// How long a step would be if no rank took longer than another, from what is kept of each: ranks
// meet once a step, so that it is as long as the slowest of them takes for itself, and what else it
// has (transfers, the bubble of a pipeline) stays. A trace of operations tells it exactly
// (analysis/whatif); of parts of a step in which now one rank is late and now another, less is
// seen here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/partial/rank_partial.h"
#include "analysis/whatif/what_if.h"

namespace batchlight {

// One kind of work of a rank in which it waits for nobody: a phase, what its GPU computes.
struct OwnWork {
  std::string_view name;
  std::span<const uint32_t> per_step_us;  // of every step
};

// Looks into what is kept of a rank.
struct RankOwnSteps {
  int32_t rank = 0;
  int32_t replica = 0;
  int32_t stage = 0;
  std::span<const uint32_t>
      rows;  // steps that are compared, the n-th of each rank with the others'
  // Of every step; what is not there is 0.
  std::span<const int64_t> step_ns;
  std::span<const int64_t> lost_ns;  // waiting for a later rank
  std::vector<int64_t> between_ns;   // in Send and Recv while nothing was computed: the bubble
  std::vector<OwnWork> works;

  int64_t StepNs(size_t step) const { return step_ns[rows[step]]; }
  int64_t OwnNs(size_t step) const;
  int64_t WorkNs(const OwnWork& work, size_t step) const;
};

// Its place in the job is the caller's. All have to outlive what looks into them.
RankOwnSteps OwnStepsOf(const RankPartial& rank, std::span<const uint32_t> rows,
                        std::span<const int64_t> lost_ns);

// Nothing: there are no two ranks that have a step in common.
std::optional<WhatIf> AskJobWhatIf(std::span<const RankOwnSteps> ranks);

}  // namespace batchlight
