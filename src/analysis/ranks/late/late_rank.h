// The rank for which the others wait. In a healthy job it is now one rank and now another that
// comes last; a straggler is the rank to which most of what is lost by waiting is due, in more
// steps than chance explains, and enough of it to be worth a word. A rank that is late in every
// fifth step is one as much as a rank that is always slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace batchlight {

// What the others lose to a straggler is so much of a step at least, in the mean.
inline constexpr double kLateCostsOfStep = 0.01;

// Of one rank: what the others lost in each step because it came last, ns.
using CostOfSteps = std::vector<int64_t>;

struct LateRank {
  size_t rank = 0;                   // row of the ranks
  double waited_ns = 0;              // what the others wait for it per step, mean
  std::vector<uint32_t> late_steps;  // in which they waited noticeably; rows as in the costs
};

// `step_ns`: what a step takes. nullopt: none stands out, or there are no two ranks.
std::optional<LateRank> FindLateRank(std::span<const CostOfSteps> ranks, double step_ns);
// Also one that is late so seldom that it may be chance.
std::optional<LateRank> FindMostLateRank(std::span<const CostOfSteps> ranks, double step_ns);

}  // namespace batchlight
