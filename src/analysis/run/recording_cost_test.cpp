#include "analysis/run/recording_cost.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

// Four steps of 1 ms; in each ten kernels, two operators and one range besides the step's own.
Store TrainingRun(bool with_costs) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  const ThreadId other = build.Thread(build.Process(101, "loader"));
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t start = step * 1'000'000;
    build.Range(main, "step", start, start + 900'000);
    build.Range(main, "forward", start + 1000, start + 500'000);
    build.Range(other, "forward", start + 1000, start + 500'000);
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t at = start + 10'000 + i * 1000;
      build.Kernel(main, "gemm", at, at + 100, at + 600);
    }
    for (int64_t i = 0; i < 2; ++i) {
      build.Operator(main, "aten::mm", start + 20'000 + i * 1000, start + 20'500 + i * 1000);
    }
  }
  if (with_costs) {
    build.Property("cost.range_ns", "50.0");
    build.Property("cost.operator_ns", "100.0");
    build.Property("cost.cuda_call_ns", "37.0");
  }
  return build.Build();
}

TEST(RecordingCost, AddsUpWhatAStepHolds) {
  const Store store = TrainingRun(true);
  const RecordingCost cost = EstimateRecordingCost(store, FindSteps(store));
  ASSERT_EQ(cost.kinds.size(), 3u);
  EXPECT_EQ(cost.kinds[0].what, "GPU events");
  EXPECT_DOUBLE_EQ(cost.kinds[0].per_step, 10);
  EXPECT_EQ(cost.kinds[1].what, "operators");
  EXPECT_DOUBLE_EQ(cost.kinds[1].per_step, 2);
  EXPECT_EQ(cost.kinds[2].what, "ranges");
  EXPECT_DOUBLE_EQ(cost.kinds[2].per_step, 2) << "of the training process only";
  EXPECT_DOUBLE_EQ(cost.per_step_ns, 10 * cost.kinds[0].ns_each + 4 * (2 * 100 + 2 * 50));
}

// A hundred kernels in the first of five steps, which is slow and set apart as warm-up, none later.
TEST(RecordingCost, CountsTheStepsThatCount) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  for (int64_t i = 0; i < 100; ++i) {
    build.Kernel(main, "gemm", 10'000 + i * 1000, 10'100 + i * 1000, 10'600 + i * 1000);
  }
  build.Range(main, "step", 0, 10'000'000);
  for (int64_t step = 0; step < 20; ++step) {
    build.Range(main, "step", 10'000'000 + step * 1'000'000, 10'900'000 + step * 1'000'000);
  }
  build.Property("cost.range_ns", "50.0");
  const Store store = build.Build();
  const StepSet steps = FindSteps(store);
  ASSERT_EQ(steps.Main()->steady.size(), 20u);
  const RecordingCost cost = EstimateRecordingCost(store, steps);
  ASSERT_EQ(cost.kinds.size(), 1u);
  EXPECT_EQ(cost.kinds[0].what, "ranges");
  EXPECT_DOUBLE_EQ(cost.per_step_ns, 4 * 50);
}

TEST(RecordingCost, UnknownOfOtherTools) {
  const Store store = TrainingRun(false);
  EXPECT_FALSE(EstimateRecordingCost(store, FindSteps(store)).known());
  EXPECT_FALSE(EstimateRecordingCost(Store{}, StepSet{}).known());
}

}  // namespace
}  // namespace batchlight
