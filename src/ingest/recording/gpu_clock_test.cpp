#include "ingest/recording/gpu_clock.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(GpuClock, FallsBackToAnOffset) {
  size_t hint = 0;
  EXPECT_EQ(GpuClock(-100).ToNs(150, hint), 50);
}

TEST(GpuClock, FollowsDriftBetweenPairs) {
  GpuClock clock(0);
  // CUPTI's clock gains 10 us a second.
  for (int64_t i = 0; i <= 10; ++i) clock.AddPair(i * kSecond, 5000 + i * (kSecond + 10'000), 40);
  clock.Finish();
  size_t hint = 0;
  for (int64_t half = 0; half <= 20; ++half) {
    const int64_t cupti_ns = 5000 + half * (kSecond + 10'000) / 2;
    EXPECT_NEAR(static_cast<double>(clock.ToNs(cupti_ns, hint)),
                static_cast<double>(half * kSecond / 2), 2);
  }
  // Out of order, before the first and after the last pair.
  EXPECT_EQ(clock.ToNs(4000, hint), -1000);
  EXPECT_EQ(clock.ToNs(5000 + 10 * (kSecond + 10'000) + 7, hint), 10 * kSecond + 7);
  EXPECT_EQ(clock.error_ns(), 40);
}

TEST(GpuClock, AStepIsAnError) {
  GpuClock clock(0);
  clock.AddPair(0, 0, 10);
  clock.AddPair(kSecond, kSecond + 8000, 10);
  clock.AddPair(2 * kSecond, 2 * kSecond, 10);
  clock.Finish();
  EXPECT_NEAR(static_cast<double>(clock.error_ns()), 8000, 2);
}

TEST(GpuClock, SurvivesNonsense) {
  GpuClock clock(INT64_MAX);
  size_t hint = 99;
  EXPECT_EQ(clock.ToNs(INT64_MAX, hint), 0);
  clock.AddPair(INT64_MAX, INT64_MIN, 0);
  clock.AddPair(1, 1, 0);
  clock.AddPair(1, 1, 0);
  clock.Finish();
  EXPECT_EQ(clock.ToNs(1, hint), 1);
}

}  // namespace
}  // namespace batchlight
