// Whether launches are what a loop waits for.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// Steps of 10 ms launch many short kernels that take `busy_ns` of it; hardware counters are read
// between the GPU's stretches of them, so that it seems to idle for 90 ms more of each.
std::vector<Finding> FindingsOfCountedSteps(int64_t busy_ns) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0, t = 0; i < 20; ++i, t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    for (int64_t kernel = 0; kernel < 50; ++kernel) {
      const int64_t at = t + kernel * kMs / 5;
      build.Operator(thread, "aten::add", at, at + kMs / 6);
      build.Kernel(thread, "elementwise_kernel", at + 100, at + 1000, at + 1000 + busy_ns / 50);
    }
  }
  const Store store = build.Build();
  RunMeasures run = MeasureRun(store, {});
  GpuBreakdown& gpu = run.gpu.breakdowns.front();
  for (GpuStepParts& step : gpu.steps) {
    step.end_ns += 90 * kMs;
    step.part_ns[static_cast<size_t>(GpuPart::kIdleOperators)] += 90 * kMs;
  }
  gpu.window.mean += 90 * kMs;
  gpu.steady[static_cast<size_t>(GpuPart::kIdleOperators)].mean += 90 * kMs;
  gpu.busy_share /= 10;
  return FindAdvice(run);
}

TEST(GpuRules, NoneSavesMoreOfAStepThanItsGpuIdles) {
  for (const int64_t busy_ms : {1, 8}) {
    const auto findings = FindingsOfCountedSteps(busy_ms * kMs);
    const Finding* found = FindRule(findings, "launch-bound");
    ASSERT_NE(found, nullptr);
    EXPECT_GT(found->gain_ns, 0.5 * kMs);
    EXPECT_LE(found->gain_ns, double(10 - busy_ms) * kMs + 0.1 * kMs);
    EXPECT_EQ(found->run_gain_ns, 0);
  }
  const auto findings = FindingsOfCountedSteps(9'900'000);
  EXPECT_EQ(FindRule(findings, "launch-bound"), nullptr) << "little is left";
}

// Steps of the same work for the GPU: what makes most of them longer is no matter of launching.
TEST(GpuRules, LaunchesAreJudgedByTheQuietSteps) {
  const auto gain_ns = [](int noisy_of_ten) {
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(7, "train.py"));
    for (int64_t i = 0, t = 0; i < 40; ++i) {
      const int64_t pause_ns = i % 10 < noisy_of_ten ? kMs / 10 : kMs / 100;  // before each launch
      const int64_t begin = t;
      for (int64_t kernel = 0; kernel < 50; ++kernel, t += pause_ns + kMs / 10) {
        build.Operator(thread, "aten::add", t, t + pause_ns);
        build.Kernel(thread, "elementwise_kernel", t + pause_ns - 100, t + pause_ns,
                     t + pause_ns + kMs / 10);
      }
      build.Range(thread, "step", begin, t - 1000);
    }
    const Store store = build.Build();
    const Finding* found = FindRule(FindAdvice(MeasureRun(store, {})), "launch-bound");
    return found == nullptr ? 0 : found->gain_ns;
  };
  EXPECT_NEAR(gain_ns(10), 5 * kMs * 0.65, 0.1 * kMs);
  EXPECT_EQ(gain_ns(8), 0);
}

// Rank 0 has no GPU, and more steps than rank 1, which has one.
TEST(GpuRules, StepsOfAnotherProcessAreNoneOfTheGpu) {
  for (const int64_t step_ns : {2 * kMs, kMs / 50}) {
    StoreBuilder build;
    const ThreadId many_steps = build.Thread(build.Process(100, "train.py", 0));
    for (int64_t t = 0; t < 1000 * kMs; t += step_ns) {
      build.Range(many_steps, "step", t, t + step_ns);
      build.Operator(many_steps, "aten::add", t + 100, t + 200);
    }
    const ThreadId on_gpu = build.Thread(build.Process(101, "train.py", 1));
    for (int64_t t = 0; t < 60 * kMs; t += 2 * kMs) {
      build.Range(on_gpu, "step", t, t + 2 * kMs);
      for (int64_t at = t; at < t + 2 * kMs; at += kMs / 5) {
        build.Operator(on_gpu, "aten::add", at, at + kMs / 10);
        build.Kernel(on_gpu, "elementwise_kernel", at + 100, at + kMs / 10, at + kMs / 5);
      }
    }
    const Store store = build.Build();
    const RunMeasures run = MeasureRun(store, {});
    ASSERT_EQ(run.steps.Main()->steps.size(), size_t(1000 * kMs / step_ns));
    ASSERT_NE(run.gpu.MainBreakdown(), nullptr);
    ASSERT_EQ(run.gpu.MainBreakdown()->steps.size(), 30u);
    EXPECT_EQ(FindRule(FindAdvice(run), "padding"), nullptr);
  }
}

}  // namespace
}  // namespace batchlight
