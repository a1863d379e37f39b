#include "analysis/ranks/late/late_rank.h"

#include <gtest/gtest.h>

#include <vector>

namespace batchlight {
namespace {

constexpr double kStepNs = 1000;

// Costs of 30 steps of 1,000 ns: `usual` in each, `late` in every n-th.
CostOfSteps Costs(int64_t usual, int64_t late = 0, size_t every = 1) {
  CostOfSteps costs;
  for (size_t step = 0; step < 30; ++step) {
    costs.push_back(late > 0 && step % every == 0 ? late : usual);
  }
  return costs;
}

struct Case {
  const char* name;
  std::vector<CostOfSteps> ranks;
  std::optional<size_t> rank;
  size_t late_steps = 0;
};

TEST(LateRank, IsTheRankThatCostsTheOthersMostInMoreStepsThanChanceExplains) {
  const Case cases[] = {
      {"always late", {Costs(0), Costs(300), Costs(0)}, 1, 30},
      {"late in every fifth step", {Costs(0), Costs(0), Costs(0, 200, 5), Costs(0)}, 2, 6},
      {"both cost the same", {Costs(30), Costs(30)}, std::nullopt},
      {"0.9 % of a step is not worth a word", {Costs(9), Costs(0)}, std::nullopt},
      {"1 % is", {Costs(10), Costs(0)}, 0, 30},
      {"less than three times as much as the rank in the middle",
       {Costs(25), Costs(10), Costs(10)},
       std::nullopt},
      {"one long stall is no habit", {Costs(0), Costs(0, 3000, 30)}, std::nullopt},
      {"of two ranks one is late in every fourth step", {Costs(0), Costs(0, 800, 4)}, 1, 8},
      {"what the other is late is small beside that", {Costs(100), Costs(0, 3000, 4)}, 1, 8},
      {"in five steps that may be chance", {Costs(0), Costs(0, 3000, 6)}, std::nullopt},
      {"one rank costs nobody anything", {Costs(100)}, std::nullopt},
  };
  for (const Case& one : cases) {
    const std::optional<LateRank> found = FindLateRank(one.ranks, kStepNs);
    ASSERT_EQ(found.has_value(), one.rank.has_value()) << one.name;
    if (!found) continue;
    EXPECT_EQ(found->rank, *one.rank) << one.name;
    EXPECT_EQ(found->late_steps.size(), one.late_steps) << one.name;
  }
  const std::vector<CostOfSteps> ranks = {Costs(0, 200, 5), Costs(0), Costs(0), Costs(0)};
  EXPECT_DOUBLE_EQ(FindLateRank(ranks, kStepNs)->waited_ns, 40);
  EXPECT_EQ(FindLateRank(ranks, kStepNs)->late_steps,
            (std::vector<uint32_t>{0, 5, 10, 15, 20, 25}));
}

}  // namespace
}  // namespace batchlight
