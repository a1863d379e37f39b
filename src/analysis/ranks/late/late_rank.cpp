#include "analysis/ranks/late/late_rank.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

constexpr double kLateOfStep = 0.005;  // a step counts as late if it costs so much of it,
constexpr double kLateOfUsual = 0.5;   // and so much of what the rank costs in a step that matters
constexpr double kOthersTimes = 3;     // and so many times as much as for a rank in the middle
// That a healthy job has such a rank: of two ranks one comes last in eight of eight steps once in
// 128 jobs, which is little where it costs much.
constexpr double kChance = 2e-3, kChanceOfMuch = 2e-2;
constexpr double kMuchOfStep = 0.1;
constexpr size_t kFewestSteps = 3;

template <typename T>
double MeanOf(const std::vector<T>& values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const T value : values) sum += double(value);
  return sum / double(values.size());
}

// Half of what the rank costs in all is due to steps in which it costs so much or more.
double UsualCost(CostOfSteps costs) {
  std::sort(costs.begin(), costs.end(), std::greater<>());
  double all = 0, sum = 0;
  for (const int64_t cost : costs) all += double(cost);
  for (const int64_t cost : costs) {
    sum += double(cost);
    if (2 * sum >= all) return double(cost);
  }
  return 0;
}

double LateNs(const CostOfSteps& costs, double step_ns) {
  return std::max(kLateOfStep * step_ns, kLateOfUsual * UsualCost(costs));
}

std::vector<uint32_t> LateSteps(const CostOfSteps& costs, double late_ns) {
  std::vector<uint32_t> late;
  for (size_t step = 0; step < costs.size(); ++step) {
    if (double(costs[step]) >= late_ns) late.push_back(static_cast<uint32_t>(step));
  }
  return late;
}

// That of `all` events at least `hits` fall on one rank of `ranks` by chance.
double ChanceOf(size_t hits, size_t all, size_t ranks) {
  const double p = 1.0 / double(ranks);
  double chance = 0;
  for (size_t i = hits; i <= all; ++i) {
    const double log_ways = std::lgamma(double(all) + 1) - std::lgamma(double(i) + 1) -
                            std::lgamma(double(all - i) + 1);
    const double term =
        std::exp(log_ways + double(i) * std::log(p) + double(all - i) * std::log1p(-p));
    chance += term;
    if (i > hits + 10 && term < chance * 1e-12) break;
  }
  return chance * double(ranks);
}

}  // namespace

std::optional<LateRank> FindMostLateRank(std::span<const CostOfSteps> ranks, double step_ns) {
  if (ranks.size() < 2 || step_ns <= 0) return std::nullopt;
  std::vector<double> means;
  for (const CostOfSteps& costs : ranks) means.push_back(MeanOf(costs));
  const auto most = std::max_element(means.begin(), means.end());
  const auto rank = static_cast<size_t>(most - means.begin());
  LateRank found{.rank = rank, .waited_ns = *most, .late_steps = {}};
  means.erase(most);
  // Where steps are short, any rank comes last by chance, and each costs the others something.
  if (found.waited_ns - MeanOf(means) < kLateCostsOfStep * step_ns) return std::nullopt;
  if (found.waited_ns < kOthersTimes * Quantile(means, 0.5)) return std::nullopt;
  found.late_steps = LateSteps(ranks[rank], LateNs(ranks[rank], step_ns));
  return found;
}

std::optional<LateRank> FindLateRank(std::span<const CostOfSteps> ranks, double step_ns) {
  const std::optional<LateRank> found = FindMostLateRank(ranks, step_ns);
  if (!found) return std::nullopt;
  const double late_ns = LateNs(ranks[found->rank], step_ns);
  size_t all = 0;
  for (const CostOfSteps& costs : ranks) all += LateSteps(costs, late_ns).size();
  const size_t hits = found->late_steps.size();
  if (hits < std::min(kFewestSteps, ranks[found->rank].size())) return std::nullopt;
  const double chance = found->waited_ns < kMuchOfStep * step_ns ? kChance : kChanceOfMuch;
  if (ChanceOf(hits, all, ranks.size()) > chance) return std::nullopt;
  return found;
}

}  // namespace batchlight
