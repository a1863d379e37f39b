#include "analysis/numbers/alternating.h"

#include <algorithm>
#include <cmath>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

constexpr size_t kNeighbours = 8;       // on each side, at most
constexpr size_t kLeastNeighbours = 2;  // on each side
constexpr double kMostMissed = 0.032;   // of all runs, in which the truth is not in the interval

// Of `count` differences in order, how many are left out at each end. Nothing: even from the first
// to the last they are too few.
std::optional<size_t> LeftOut(size_t count) {
  constexpr size_t kMany = 500;  // from here on as good as normal
  if (count > kMany)
    return static_cast<size_t>(double(count) / 2 - 1.08 * std::sqrt(double(count)));
  double term = std::pow(0.5, double(count));  // of the binomial distribution
  double missed = 0;
  for (size_t left_out = 0; left_out < count / 2; ++left_out) {
    missed += 2 * term;
    if (missed > kMostMissed) {
      return left_out == 0 ? std::nullopt : std::optional<size_t>(left_out - 1);
    }
    term *= double(count - left_out) / double(left_out + 1);
  }
  return std::nullopt;
}

}  // namespace

std::optional<LongerBy> CompareAlternating(const std::vector<AlternatingStep>& steps) {
  const auto longer = static_cast<size_t>(std::count_if(
      steps.begin(), steps.end(), [](const AlternatingStep& step) { return step.longer; }));
  const bool rarer = longer * 2 <= steps.size();
  std::vector<double> others;  // in order
  for (const AlternatingStep& step : steps) {
    if (step.longer != rarer) others.push_back(step.ns);
  }
  std::vector<double> differences;
  size_t before = 0;  // others that came before the step
  for (const AlternatingStep& step : steps) {
    if (step.longer != rarer) {
      ++before;
      continue;
    }
    const size_t sides = std::min({kNeighbours, before, others.size() - before});
    if (sides < kLeastNeighbours) continue;
    const auto middle = others.begin() + static_cast<std::ptrdiff_t>(before);
    const auto reach = static_cast<std::ptrdiff_t>(sides);
    std::vector<double> around(middle - reach, middle + reach);
    const double difference = step.ns - Quantile(around, 0.5);
    differences.push_back(rarer ? difference : -difference);
  }
  const std::optional<size_t> left_out = LeftOut(differences.size());
  if (!left_out) return std::nullopt;
  std::sort(differences.begin(), differences.end());
  LongerBy found{.low_ns = differences[*left_out],
                 .high_ns = differences[differences.size() - 1 - *left_out],
                 .samples = differences.size()};
  found.ns = Quantile(differences, 0.5);  // reorders them
  return found;
}

}  // namespace batchlight
