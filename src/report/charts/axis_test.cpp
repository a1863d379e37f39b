#include "report/charts/axis.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(AxisTest, StepsAreRoundAndAtMostAsManyAsAskedFor) {
  EXPECT_DOUBLE_EQ(RoundStep(9, 6, {5, 2, 1}), 2);
  EXPECT_DOUBLE_EQ(RoundStep(31, 6, {5, 2, 1}), 10);
  EXPECT_DOUBLE_EQ(RoundStep(0.9, 4, {5, 2.5, 2, 1}), 0.25);
  EXPECT_DOUBLE_EQ(RoundStep(0.9, 4, {5, 2, 1}), 0.5);  // no quarters without 2.5
}

// 0.6 / 6 is a little more than 0.1.
TEST(AxisTest, RoundingErrorsDoNotChangeTheStep) {
  EXPECT_DOUBLE_EQ(RoundStep(0.6, 6, {5, 2, 1}), 0.1);
  EXPECT_DOUBLE_EQ(RoundStep(1.2, 4, {5, 2.5, 2, 1}), 0.5);
}

}  // namespace
}  // namespace batchlight
