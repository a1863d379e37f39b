#include "analysis/partial/step_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <numeric>
#include <vector>

namespace batchlight {
namespace {

// Ranks of `steps` steps of 100 ns, step 1 of the second of 150; each counts what it is told to.
class StepMaps : public testing::Test {
 protected:
  StepMap Map(const std::vector<std::vector<uint32_t>>& steady, size_t steps) {
    number_.resize(steps);
    std::iota(number_.begin(), number_.end(), 10);
    times_.assign(steady.size(), std::vector<int64_t>(steps, 100));
    if (steady.size() > 1 && steps > 1) times_[1][1] = 150;
    std::vector<StepsOfRank> ranks;
    for (size_t rank = 0; rank < steady.size(); ++rank) {
      ranks.push_back({steady[rank], times_[rank], number_, {}});
    }
    return MapSteps(ranks);
  }

 private:
  std::vector<int64_t> number_;
  std::vector<std::vector<int64_t>> times_;
};

TEST_F(StepMaps, ARankThatCountsFewerStepsStaysBesideTheOthers) {
  const StepMap map = Map({{1, 2, 3}, {0, 1, 2, 3}, {0, 1, 3}}, 4);
  EXPECT_EQ(map.first_step, (std::vector<int64_t>{10, 11, 12, 13}));
  EXPECT_EQ(map.usual_ns, (std::vector<double>{100, 100, 100, 100}));
  EXPECT_TRUE(std::isnan(map.own_ns[0][0]));
  EXPECT_EQ(map.own_ns[0][1], 100);
  EXPECT_EQ(map.own_ns[1], (std::vector<double>{100, 150, 100, 100}));
  EXPECT_TRUE(std::isnan(map.own_ns[2][2]));
  EXPECT_EQ(map.own_ns[2][3], 100);
}

TEST_F(StepMaps, ManyStepsShareAColumn) {
  std::vector<uint32_t> all(130);
  std::iota(all.begin(), all.end(), 0);
  const StepMap map = Map({all, all}, all.size());
  EXPECT_EQ(map.steps_per_column, 3u);
  EXPECT_EQ(map.first_step.size(), 44u);
  EXPECT_EQ(map.first_step[1], 13);
  EXPECT_NEAR(map.own_ns[1][0], 350.0 / 3, 1e-9);
  EXPECT_EQ(map.own_ns[1].back(), 100);
}

TEST_F(StepMaps, OutOfOrderIsNoFault) {
  const StepMap map = Map({{3, 1, 1}, {2}}, 4);
  EXPECT_EQ(map.own_ns.size(), 2u);
  EXPECT_EQ(map.own_ns[0].size(), map.first_step.size());
}

// As a forged file may have it: merged rank by rank, time went with the square of their number.
TEST(StepMap, RanksWithoutACommonStep) {
  constexpr size_t kRanks = 20'000, kSteps = 50;
  std::vector<uint32_t> steady(kSteps);
  std::iota(steady.begin(), steady.end(), 0);
  const std::vector<int64_t> times(kSteps, 100);
  std::vector<std::vector<int64_t>> numbers(kRanks, std::vector<int64_t>(kSteps));
  std::vector<StepsOfRank> ranks;
  for (size_t rank = 0; rank < kRanks; ++rank) {
    std::iota(numbers[rank].begin(), numbers[rank].end(), int64_t((kRanks - rank) * kSteps));
    ranks.push_back({steady, times, numbers[rank], {}});
  }
  const std::clock_t begin = std::clock();
  const StepMap map = MapSteps(ranks);
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 5.0);
  EXPECT_EQ(map.first_step.size(), kMostStepColumns);
  EXPECT_EQ(map.first_step[0], int64_t{kSteps});
  EXPECT_EQ(map.steps_per_column, kRanks * kSteps / kMostStepColumns);
}

TEST_F(StepMaps, NoneHaveNoColumns) {
  EXPECT_TRUE(MapSteps({}).first_step.empty());
  EXPECT_TRUE(Map({{}, {}}, 0).first_step.empty());
}

}  // namespace
}  // namespace batchlight
