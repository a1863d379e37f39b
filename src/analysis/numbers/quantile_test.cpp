#include "analysis/numbers/quantile.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace batchlight {
namespace {

std::vector<int64_t> Tens() { return {40, 10, 30, 20}; }

// numpy.percentile([10, 20, 30, 40], [0, 5, 50, 95, 100]) = 10, 11.5, 25, 38.5, 40
TEST(Quantile, InterpolatesAsNumpyDoes) {
  for (const auto& [q, expected] :
       {std::pair{0.0, 10.0}, {0.05, 11.5}, {0.5, 25.0}, {0.95, 38.5}, {1.0, 40.0}}) {
    std::vector<int64_t> values = Tens();
    EXPECT_DOUBLE_EQ(Quantile(values, q), expected) << q;
  }
}

TEST(Quantile, TheLowerAndTheUpperAreValuesOfTheSample) {
  for (const auto& [q, lower, upper] :
       {std::tuple{0.0, 10, 10}, {0.5, 20, 30}, {0.95, 30, 40}, {1.0, 40, 40}}) {
    std::vector<int64_t> values = Tens();
    EXPECT_EQ(LowerQuantile(values, q), lower) << q;
    EXPECT_EQ(UpperQuantile(values, q), upper) << q;
  }
}

// With an odd number of values the median is the one in the middle, by all three.
TEST(Quantile, AllAgreeOnAMiddleValue) {
  std::vector<int64_t> values = {5, 1, 4, 2, 3};
  EXPECT_EQ(Quantile(values, 0.5), 3);
  EXPECT_EQ(LowerQuantile(values, 0.5), 3);
  EXPECT_EQ(UpperQuantile(values, 0.5), 3);
}

TEST(Quantile, OfOneValueIsThatValue) {
  std::vector<int64_t> values = {7};
  for (const double q : {0.0, 0.3, 1.0}) {
    EXPECT_EQ(Quantile(values, q), 7);
    EXPECT_EQ(LowerQuantile(values, q), 7);
    EXPECT_EQ(UpperQuantile(values, q), 7);
  }
}

}  // namespace
}  // namespace batchlight
