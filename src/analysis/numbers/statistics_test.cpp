#include "analysis/numbers/statistics.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(Statistics, QuantilesInterpolateAsNumpyDoes) {
  // numpy.percentile([10, 20, 30, 40], [5, 50, 95]) = 11.5, 25, 38.5
  const Sample sample = Summarize({40, 10, 30, 20});
  EXPECT_EQ(sample.p5, 12);
  EXPECT_EQ(sample.median, 25);
  EXPECT_EQ(sample.p95, 39);
  EXPECT_EQ(sample.total, 100);
  EXPECT_EQ(sample.min, 10);
  EXPECT_EQ(sample.max, 40);
  EXPECT_DOUBLE_EQ(sample.mean, 25);
  EXPECT_NEAR(sample.standard_deviation, 12.909944, 1e-6);
}

TEST(Statistics, OneValueAndNone) {
  const Sample one = Summarize({7});
  EXPECT_EQ(one.p5, 7);
  EXPECT_EQ(one.median, 7);
  EXPECT_EQ(one.p95, 7);
  EXPECT_EQ(one.standard_deviation, 0);
  EXPECT_EQ(Summarize({}).count, 0u);
}

// Of four values the 95th percentile is the longest but for a rest that nobody measured.
TEST(Statistics, PercentilesAreOfFiveValuesOrMore) {
  EXPECT_FALSE(HasPercentiles(Summarize({})));
  EXPECT_FALSE(HasPercentiles(Summarize({10, 20, 30, 40})));
  EXPECT_TRUE(HasPercentiles(Summarize({10, 20, 30, 40, 50})));
}

TEST(Statistics, SpreadIgnoresAWildValue) {
  const Sample sample = Summarize({100, 101, 99, 100, 102, 98, 100, 100000});
  EXPECT_NEAR(sample.spread, 1.4826 * 1, 1e-9);
  EXPECT_EQ(OutlierDistance(sample), 10) << "10 % of the median: the loop is very even";
  EXPECT_EQ(OutlierDistance(Summarize({100, 200, 300, 400, 500})), 741);
}

}  // namespace
}  // namespace batchlight
