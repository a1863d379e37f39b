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

// Steps that replay graphs whose kernels were recorded one by one (--cuda-graph-trace=node), with
// as many kernels beside them.
std::vector<Finding> FindingsOfReplays(int64_t graphs, int64_t kernels_beside) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t t = 0; t < 200 * kMs; t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    for (int64_t graph = 0, at = t; graph < graphs; ++graph, at += 5 * kMs) {
      build.ApiCall(thread, "cudaGraphLaunch_v10000", at + kMs / 2, at + 5 * kMs - 2000);
      const auto correlation = build.store().api_calls.correlation.back();
      for (int64_t node = 0; node < 20; ++node) {
        build.store().kernels.Append({.start_ns = at + kMs + node * 10'000,
                                      .end_ns = at + kMs + node * 10'000 + 3000,
                                      .process = ProcessId::At(0),
                                      .correlation = correlation,
                                      .stream = 7,
                                      .demangled_name = build.Text("elementwise_kernel"),
                                      .short_name = build.Text("elementwise_kernel"),
                                      .graph_node = uint64_t(node) + 1});
      }
    }
    for (int64_t i = 0, at = t + 5 * kMs; i < kernels_beside; ++i, at += kMs / 50) {
      build.Kernel(thread, "elementwise_kernel", at, at + 6000, at + 9000);
    }
  }
  const Store store = build.Build();
  return FindAdvice(MeasureRun(store, {}));
}

TEST(GpuRules, AStepThatReplaysGraphsIsNotToldToCaptureOne) {
  const auto action = [](int64_t graphs, int64_t beside) {
    const auto findings = FindingsOfReplays(graphs, beside);
    const Finding* found = FindRule(findings, "launch-bound");
    if (found == nullptr) return std::string("none");
    EXPECT_TRUE(found->patch.empty());
    EXPECT_EQ(found->seen.find("40.0 kernels"), std::string::npos) << found->seen;
    return found->action;
  };
  EXPECT_EQ(action(2, 0).find("The step replays 2 CUDA graphs already: capture them as one"), 0u)
      << action(2, 0);
  EXPECT_EQ(action(1, 0).find("The step replays 1 CUDA graph already: capture several steps"), 0u)
      << action(1, 0);
  EXPECT_EQ(action(1, 150).find("The step replays 1 CUDA graph already; what lies between"), 0u)
      << action(1, 150);
}

// The CPU is in a step for 0.1 ms, the GPU takes 1 ms for it.
TEST(GpuRules, SharesAreOfWhatAStepTakesWhereTheCpuRunsAhead) {
  StoreBuilder build;
  build.store().gpus.Append({.compute_major = 9});
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * kMs / 10;
    build.Range(thread, "step", at, at + kMs / 10 - 100);
    build.Kernel(thread, "ampere_sgemm_128x64_tn", at + 1000, (i + 1) * kMs, (i + 2) * kMs - 1000);
  }
  build.ApiCall(thread, "cudaDeviceSynchronize", 2 * kMs, 21 * kMs);
  const Store store = build.Build();
  const auto findings = FindAdvice(MeasureRun(store, {}));
  const Finding* found = FindRule(findings, "tf32-off");
  ASSERT_NE(found, nullptr);
  EXPECT_GT(found->gain_ns, 0.3 * kMs);
  EXPECT_NEAR(found->step_share, found->gain_ns / kMs, 0.02);
  EXPECT_NEAR(found->loop_share, found->gain_ns / kMs, 0.1);
}

// A collective has few blocks by design.
TEST(GpuRules, CollectivesAreNoKernelsThatALargerBatchFills) {
  for (const char* name : {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "nvjet_hsh_128"}) {
    StoreBuilder build;
    build.store().gpus.Append(
        {.sm_count = 132, .max_threads_per_sm = 2048, .max_blocks_per_sm = 32, .warp_threads = 32});
    const ThreadId thread = build.Thread(build.Process(7, "train.py"));
    build.store().kernel_launches.Append(
        {.grid_x = 8, .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1});
    for (int64_t t = 0; t < 200 * kMs; t += 10 * kMs) {
      build.Range(thread, "step", t, t + 10 * kMs - 1000);
      build.Kernel(thread, name, t, t + 5000, t + 10 * kMs - 5000);
      build.store().kernels.launch.back() = KernelLaunchId::At(0);
    }
    const Store store = build.Build();
    const auto findings = FindAdvice(MeasureRun(store, {}));
    EXPECT_EQ(FindRule(findings, "grid-too-small") != nullptr, name[1] != 'c') << name;
  }
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
