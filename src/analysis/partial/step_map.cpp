#include "analysis/partial/step_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

// Ascending, each once, whatever a damaged partial has.
std::vector<int64_t> SteadyNumbers(const StepsOfRank& rank) {
  std::vector<int64_t> numbers;
  numbers.reserve(rank.steady.size());
  for (const uint32_t row : rank.steady) numbers.push_back(rank.step_number[row]);
  if (!std::is_sorted(numbers.begin(), numbers.end())) std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

void SortOnce(std::vector<int64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

bool Has(const std::vector<int64_t>& sorted, int64_t number) {
  return std::binary_search(sorted.begin(), sorted.end(), number);
}

// Numbers of the steps that count for any rank, ascending. Ranks of a damaged file may have no step
// in common: what is new is put in order when it is as much as what is known, not rank by rank.
std::vector<int64_t> AllNumbers(std::span<const StepsOfRank> ranks) {
  std::vector<int64_t> all, added;
  for (const StepsOfRank& rank : ranks) {
    for (const int64_t number : SteadyNumbers(rank)) {
      if (!Has(all, number)) added.push_back(number);
    }
    if (added.size() <= all.size()) continue;
    all.insert(all.end(), added.begin(), added.end());
    added.clear();
    SortOnce(all);
  }
  all.insert(all.end(), added.begin(), added.end());
  SortOnce(all);
  return all;
}

std::vector<double> ColumnsOf(const StepsOfRank& rank, std::span<const int64_t> numbers,
                              size_t steps_per_column) {
  const size_t columns = (numbers.size() + steps_per_column - 1) / steps_per_column;
  std::vector<double> sums(columns);
  std::vector<size_t> steps(columns);
  for (const uint32_t row : rank.steady) {
    const auto place = std::lower_bound(numbers.begin(), numbers.end(), rank.step_number[row]);
    const size_t column = size_t(place - numbers.begin()) / steps_per_column;
    const int64_t lost = row < rank.lost_ns.size() ? rank.lost_ns[row] : 0;
    sums[column] += double(std::max<int64_t>(0, rank.step_ns[row] - lost));
    ++steps[column];
  }
  for (size_t column = 0; column < columns; ++column) {
    sums[column] = steps[column] == 0 ? std::numeric_limits<double>::quiet_NaN()
                                      : sums[column] / double(steps[column]);
  }
  return sums;
}

}  // namespace

StepMap MapSteps(std::span<const StepsOfRank> ranks) {
  StepMap map;
  const std::vector<int64_t> numbers = AllNumbers(ranks);
  map.steps_per_column =
      std::max<size_t>(1, (numbers.size() + kMostStepColumns - 1) / kMostStepColumns);
  for (size_t i = 0; i < numbers.size(); i += map.steps_per_column) {
    map.first_step.push_back(numbers[i]);
  }
  for (const StepsOfRank& rank : ranks) {
    map.own_ns.push_back(ColumnsOf(rank, numbers, map.steps_per_column));
  }
  for (size_t column = 0; column < map.first_step.size(); ++column) {
    std::vector<double> values;
    for (const std::vector<double>& rank : map.own_ns) {
      if (!std::isnan(rank[column])) values.push_back(rank[column]);
    }
    map.usual_ns.push_back(Quantile(values, 0.5));
  }
  return map;
}

}  // namespace batchlight
