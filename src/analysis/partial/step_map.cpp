#include "analysis/partial/step_map.h"

#include <algorithm>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

std::vector<double> ColumnsOf(const StepsOfRank& rank, size_t steps_per_column) {
  std::vector<double> columns;
  for (size_t begin = 0; begin < rank.steady.size(); begin += steps_per_column) {
    const size_t end = std::min(begin + steps_per_column, rank.steady.size());
    double sum = 0;
    for (size_t i = begin; i < end; ++i) {
      const uint32_t row = rank.steady[i];
      const int64_t lost = row < rank.lost_ns.size() ? rank.lost_ns[row] : 0;
      sum += double(std::max<int64_t>(0, rank.step_ns[row] - lost));
    }
    columns.push_back(sum / double(end - begin));
  }
  return columns;
}

}  // namespace

StepMap MapSteps(std::span<const StepsOfRank> ranks) {
  StepMap map;
  const StepsOfRank* longest = nullptr;
  for (const StepsOfRank& rank : ranks) {
    if (longest == nullptr || rank.steady.size() > longest->steady.size()) longest = &rank;
  }
  if (longest == nullptr) return map;
  const size_t steps = longest->steady.size();
  map.steps_per_column = std::max<size_t>(1, (steps + kMostStepColumns - 1) / kMostStepColumns);
  for (size_t i = 0; i < steps; i += map.steps_per_column) {
    map.first_step.push_back(longest->step_number[longest->steady[i]]);
  }
  for (const StepsOfRank& rank : ranks) {
    map.own_ns.push_back(ColumnsOf(rank, map.steps_per_column));
  }
  for (size_t column = 0; column < map.first_step.size(); ++column) {
    std::vector<double> values;
    for (const std::vector<double>& rank : map.own_ns) {
      if (column < rank.size()) values.push_back(rank[column]);
    }
    map.usual_ns.push_back(Quantile(values, 0.5));
  }
  return map;
}

}  // namespace batchlight
