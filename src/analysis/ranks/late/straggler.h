// The rank for which the others wait: it waits at most a share of what they do on average, and that
// is a part of a step worth speaking of.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace batchlight {

// Of one rank, means per step.
struct RankWait {
  double waited_ns = 0;
  double step_ns = 0;
};

struct Straggler {
  size_t rank = 0;       // row of the ranks
  double waited_ns = 0;  // what the others wait for it per step, mean
};

// nullopt: none stands out, or there are no two.
std::optional<Straggler> FindStraggler(std::span<const RankWait> ranks);

}  // namespace batchlight
