#include "analysis/run/measured_overhead.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

// Six steps of 110 us, that end with the optimizer's.
void Train(StoreBuilder& build) {
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 6; ++i) {
    const int64_t at = i * 110'000;
    build.Phase(thread, Phase::kDataLoaderNext, "DataLoader", at, at + 9);
    build.Phase(thread, Phase::kOptimizerStep, "SGD.step", at + 90'000, at + 110'000);
  }
}

MeasuredOverhead Read(StoreBuilder& build) {
  const Store store = build.Build();
  return ReadMeasuredOverhead(store, FindSteps(store));
}

TEST(MeasuredOverhead, IsNothingUnlessAskedFor) {
  StoreBuilder build;
  Train(build);
  build.Property("session.wall_ns", "1000");
  EXPECT_FALSE(Read(build).asked);
}

TEST(MeasuredOverhead, ComparesMediansOfRounds) {
  StoreBuilder build;
  Train(build);
  build.Property(kPlainWallKey, "1000,1100,900");
  build.Property(kProfiledWallKey, "1200,1210");
  build.Property(kWallKey, "1170");
  build.Property(kPlainStepKey, "100000,100000,100000");
  build.Property(kProfiledStepKey, "105000,104000");
  build.Property(kStepMarkerKey, "optimizer_step SGD.step");
  const MeasuredOverhead measured = Read(build);
  EXPECT_TRUE(measured.asked);
  EXPECT_EQ(measured.problem, "");
  EXPECT_EQ(measured.wall.rounds, 3u);
  EXPECT_NEAR(measured.wall.overhead(), 0.2, 1e-9);
  EXPECT_NEAR(measured.wall.low, 0.1, 1e-9);
  EXPECT_NEAR(measured.wall.high, 0.3, 1e-9);
  EXPECT_EQ(measured.step.rounds, 3u);
  EXPECT_NEAR(measured.step.overhead(), 0.05, 1e-9);  // of 105, 104 and the recording's 110 us
  EXPECT_NEAR(measured.step.high, 0.1, 1e-9);
}

TEST(MeasuredOverhead, StepsOfAnotherKindAreNotCompared) {
  StoreBuilder build;
  Train(build);
  build.Property(kPlainWallKey, "1000");
  build.Property(kWallKey, "1170");
  build.Property(kPlainStepKey, "100000");
  build.Property(kStepMarkerKey, "nvtx_range batch");
  const MeasuredOverhead measured = Read(build);
  EXPECT_EQ(measured.wall.rounds, 1u);
  EXPECT_EQ(measured.step.rounds, 0u);
  EXPECT_NE(measured.problem, "");
}

TEST(MeasuredOverhead, AProgramThatFailsWithoutUsIsSaid) {
  StoreBuilder build;
  Train(build);
  build.Property(kOverheadProblemKey, "the program ended with exit code 3");
  const MeasuredOverhead measured = Read(build);
  EXPECT_TRUE(measured.asked);
  EXPECT_EQ(measured.wall.rounds, 0u);
  EXPECT_EQ(measured.problem, "the program ended with exit code 3");
}

}  // namespace
}  // namespace batchlight
