#include "analysis/ranks/late/straggler.h"

#include <algorithm>

namespace batchlight {
namespace {

constexpr double kOthersWaitTimes = 3;      // the others wait at least so many times as long
constexpr double kOthersWaitOfStep = 0.02;  // and so much of a step

}  // namespace

std::optional<Straggler> FindStraggler(std::span<const RankWait> ranks) {
  if (ranks.size() < 2) return std::nullopt;
  const auto least = std::min_element(
      ranks.begin(), ranks.end(),
      [](const RankWait& a, const RankWait& b) { return a.waited_ns < b.waited_ns; });
  double others = 0;
  for (const RankWait& rank : ranks) others += rank.waited_ns;
  others = (others - least->waited_ns) / double(ranks.size() - 1);
  if (least->waited_ns * kOthersWaitTimes > others) return std::nullopt;
  if (others < kOthersWaitOfStep * least->step_ns) return std::nullopt;
  return Straggler{static_cast<size_t>(least - ranks.begin()), others - least->waited_ns};
}

}  // namespace batchlight
