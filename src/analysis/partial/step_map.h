// What each rank took for itself in its steps: their length less what it lost waiting for others.
// Of the steps that count, by their number, so that ranks that count others stay side by side; many
// steps share a column.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace batchlight {

struct StepsOfRank {
  std::span<const uint32_t> steady;  // rows of the others
  std::span<const int64_t> step_ns;
  std::span<const int64_t> step_number;
  std::span<const int64_t> lost_ns;  // may be empty
};

struct StepMap {
  size_t steps_per_column = 1;
  std::vector<int64_t> first_step;          // number of the first step of each column
  std::vector<std::vector<double>> own_ns;  // by rank and column: mean; NaN: no step counts there
  std::vector<double> usual_ns;             // by column: median over the ranks with steps there
};

inline constexpr size_t kMostStepColumns = 64;

StepMap MapSteps(std::span<const StepsOfRank> ranks);

}  // namespace batchlight
