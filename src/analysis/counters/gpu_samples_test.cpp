#include "analysis/counters/gpu_samples.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(GpuSamples, MeansOverAllAndOverSteadySteps) {
  Store store;
  const StringId sm = store.strings.Intern("sm");
  const StringId power = store.strings.Intern("power");
  const StringId never = store.strings.Intern("never");
  store.gpu_metrics.Append({.device = 0, .metric = sm, .unit = store.strings.Intern("%")});
  store.gpu_metrics.Append({.device = 1, .metric = power});
  store.gpu_metrics.Append({.device = 0, .metric = never});
  const auto sample = [&](int64_t at, uint32_t device, StringId metric, double value) {
    store.gpu_metric_samples.Append(
        {.start_ns = at, .device = device, .metric = metric, .value = value});
  };
  sample(50, 0, sm, 0);
  sample(150, 0, sm, 40);
  sample(160, 1, power, 700);
  sample(250, 0, sm, 80);
  sample(350, 0, sm, 20);
  sample(360, 1, sm, 1);  // nobody has defined it
  StepSet steps;
  steps.processes.push_back(
      {.steps = {{.start_ns = 100, .end_ns = 200}, {.start_ns = 200, .end_ns = 300}},
       .steady = {0, 1}});
  const auto sums = SumGpuMetrics(store, steps);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].samples, 4u);
  EXPECT_DOUBLE_EQ(sums[0].mean, 35);
  EXPECT_DOUBLE_EQ(sums[0].most, 80);
  EXPECT_DOUBLE_EQ(sums[0].least, 0);
  EXPECT_EQ(sums[0].step_samples, 2u);
  EXPECT_DOUBLE_EQ(sums[0].step_mean, 60);
  EXPECT_EQ(sums[1].device, 1u);
  EXPECT_DOUBLE_EQ(sums[1].step_mean, 700);
}

}  // namespace
}  // namespace batchlight
