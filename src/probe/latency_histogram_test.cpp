#include "probe/latency_histogram.h"

#include <gtest/gtest.h>

namespace batchlight::probe {
namespace {

TEST(LatencyHistogram, SmallValuesAreExact) {
  LatencyHistogram histogram;
  for (uint64_t ns = 1; ns <= 100; ++ns) histogram.Add(ns);
  EXPECT_EQ(histogram.Quantile(0.5), 50);
  EXPECT_EQ(histogram.Quantile(0.99), 99);
  EXPECT_EQ(histogram.Quantile(0), 1);
  EXPECT_EQ(histogram.count(), 100U);
}

TEST(LatencyHistogram, LargeValuesAreOffByLittle) {
  for (uint64_t ns = 100; ns < 100'000'000'000'000; ns = ns * 17 / 13 + 1) {
    LatencyHistogram histogram;
    histogram.Add(ns);
    EXPECT_NEAR(histogram.Quantile(0.5), double(ns), 0.016 * double(ns)) << ns;
  }
}

TEST(LatencyHistogram, LongerThanTheLongestCountsAsThat) {
  LatencyHistogram histogram;
  histogram.Add(UINT64_MAX);
  EXPECT_GT(histogram.Quantile(1), 1e14);
}

TEST(LatencyHistogram, Sums) {
  LatencyHistogram few;
  LatencyHistogram many;
  few.Add(1'000'000);
  for (int i = 0; i < 99; ++i) many.Add(10);
  many.AddAll(few);
  EXPECT_EQ(many.count(), 100U);
  EXPECT_EQ(many.Quantile(0.99), 10);
  EXPECT_NEAR(many.Quantile(1), 1e6, 1.6e4);
  EXPECT_EQ(LatencyHistogram().Quantile(0.5), 0);
}

}  // namespace
}  // namespace batchlight::probe
