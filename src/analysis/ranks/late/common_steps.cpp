#include "analysis/ranks/late/common_steps.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

// How many of the ranks that are asked count a step, by its number.
class Agreement {
 public:
  explicit Agreement(std::span<const CountedSteps> ranks) {
    std::vector<size_t> counts;
    for (const CountedSteps& rank : ranks) counts.push_back(rank.rows.size());
    usual_ = UpperQuantile(counts, 0.5);
    for (const CountedSteps& rank : ranks) {
      if (!Asks(rank)) continue;
      ++asked_;
      for (const int64_t number : rank.numbers) ++having_[number];
    }
  }

  bool Asks(const CountedSteps& rank) const { return 2 * rank.rows.size() >= usual_; }
  bool HasAll(int64_t number) const {
    const auto having = having_.find(number);
    return having != having_.end() && having->second == asked_;
  }

 private:
  size_t usual_ = 0;
  size_t asked_ = 0;
  std::unordered_map<int64_t, size_t> having_;
};

}  // namespace

CommonSteps FindCommonSteps(std::span<const CountedSteps> ranks) {
  CommonSteps common;
  if (ranks.empty()) return common;
  const Agreement agreement(ranks);
  std::vector<int64_t> numbers;  // of the steps that are compared
  for (const CountedSteps& rank : ranks) {
    if (!numbers.empty() || !agreement.Asks(rank)) continue;
    std::copy_if(rank.numbers.begin(), rank.numbers.end(), std::back_inserter(numbers),
                 [&](int64_t number) { return agreement.HasAll(number); });
  }
  for (const CountedSteps& rank : ranks) {
    std::vector<uint32_t>& rows = common.rows.emplace_back();
    for (size_t i = 0; i < rank.rows.size(); ++i) {
      if (!agreement.HasAll(rank.numbers[i])) continue;
      if (rows.size() == numbers.size() || rank.numbers[i] != numbers[rows.size()]) break;
      rows.push_back(rank.rows[i]);
    }
    if (agreement.Asks(rank) && 2 * rows.size() < rank.rows.size()) common.by_number = false;
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
