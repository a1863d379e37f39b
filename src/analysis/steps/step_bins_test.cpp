#include "analysis/steps/step_bins.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(StepBinsTest, ABinStandsForItsStepsThatCountOrForAllOfThem) {
  const std::vector<uint32_t> bins = {0, 2, 5};
  ProcessSteps process;
  process.steps.resize(7);
  process.steady = {3, 4, 5, 6};
  const std::vector<BinSteps> found = StepsOfBins(bins, process);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_FALSE(found[0].steady);
  EXPECT_EQ(found[0].rows, (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(found[1].steady);
  EXPECT_EQ(found[1].rows, (std::vector<uint32_t>{3, 4}));
  EXPECT_EQ(found[2].rows, (std::vector<uint32_t>{5, 6}));
}

TEST(StepBinsTest, BinsOfTheTreeThatBeginTogetherAreOne) {
  EXPECT_EQ(BinStarts({{.first_step = 0}, {.first_step = 0, .steady = true}, {.first_step = 7}}),
            (std::vector<uint32_t>{0, 7}));
  EXPECT_TRUE(BinStarts({}).empty());
}

TEST(StepBinsTest, AProcessThatEndedEarlyHasNoStepsInTheLastBins) {
  const std::vector<uint32_t> bins = {0, 2, 5};
  ProcessSteps process;
  process.steps.resize(3);
  process.steady = {0, 1, 2};
  const std::vector<BinSteps> found = StepsOfBins(bins, process);
  EXPECT_EQ(found[1].rows, (std::vector<uint32_t>{2}));
  EXPECT_TRUE(found[2].rows.empty());
  EXPECT_FALSE(found[2].steady);
}

}  // namespace
}  // namespace batchlight
