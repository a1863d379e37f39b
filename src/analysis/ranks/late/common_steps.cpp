#include "analysis/ranks/late/common_steps.h"

#include <algorithm>
#include <unordered_map>

namespace batchlight {

CommonSteps FindCommonSteps(std::span<const CountedSteps> ranks) {
  std::unordered_map<int64_t, size_t> having;  // ranks, by number of a step
  size_t fewest = SIZE_MAX;
  for (const CountedSteps& rank : ranks) {
    for (const int64_t number : rank.numbers) ++having[number];
    fewest = std::min(fewest, rank.rows.size());
  }
  CommonSteps common;
  for (const CountedSteps& rank : ranks) {
    std::vector<uint32_t>& rows = common.rows.emplace_back();
    for (size_t i = 0; i < rank.rows.size(); ++i) {
      if (having[rank.numbers[i]] == ranks.size()) rows.push_back(rank.rows[i]);
    }
    common.by_number =
        common.by_number && 2 * rows.size() >= fewest && rows.size() == common.rows.front().size();
  }
  if (common.by_number) return common;
  for (size_t i = 0; i < ranks.size(); ++i) common.rows[i] = ranks[i].rows;
  return common;
}

CommonSteps FindCommonSteps(const StepSet& steps) {
  std::vector<CountedSteps> ranks;
  for (const ProcessSteps& process : steps.processes) {
    CountedSteps& rank = ranks.emplace_back();
    rank.rows = process.steady;
    for (const uint32_t row : process.steady) rank.numbers.push_back(process.steps[row].number);
  }
  return FindCommonSteps(ranks);
}

}  // namespace batchlight
