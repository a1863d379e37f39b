#include "analysis/ranks/late/common_steps.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

using Rows = std::vector<std::vector<uint32_t>>;

TEST(CommonSteps, AreThoseThatCountOnEveryRank) {
  const CommonSteps common = FindCommonSteps(
      std::vector<CountedSteps>{{{1, 2, 3, 4}, {1, 2, 3, 4}}, {{0, 1, 2, 4}, {0, 1, 2, 4}}});
  EXPECT_TRUE(common.by_number);
  EXPECT_EQ(common.rows, (Rows{{1, 2, 4}, {1, 2, 4}}));
}

// The others are compared in all of theirs.
TEST(CommonSteps, ARankThatWasKilledHasFewer) {
  const CountedSteps whole{{0, 1, 2, 3, 4, 5}, {10, 11, 12, 13, 14, 15}};
  const CountedSteps killed{{0}, {10}}, late{{0, 1}, {14, 15}};
  const CommonSteps common =
      FindCommonSteps(std::vector<CountedSteps>{whole, killed, whole, late, whole, {}});
  EXPECT_TRUE(common.by_number);
  EXPECT_EQ(common.rows, (Rows{whole.rows, {0}, whole.rows, {}, whole.rows, {}}));
}

// Recorded from different steps on, or named by numbers of their own.
TEST(CommonSteps, WithoutCommonNumbersAreTakenInOrder) {
  const CommonSteps common =
      FindCommonSteps(std::vector<CountedSteps>{{{0, 1}, {0, 1}}, {{0, 1, 2}, {100, 101, 102}}});
  EXPECT_FALSE(common.by_number);
  EXPECT_EQ(common.rows, (Rows{{0, 1}, {0, 1, 2}}));
  EXPECT_TRUE(FindCommonSteps(std::vector<CountedSteps>{}).rows.empty());
}

}  // namespace
}  // namespace batchlight
