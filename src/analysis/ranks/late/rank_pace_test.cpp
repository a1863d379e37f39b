#include "analysis/ranks/late/rank_pace.h"

#include <gtest/gtest.h>

#include "analysis/steps/step_inputs.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kStepNs = 6'000'000;

// Two ranks whose steps take 6 ms; rank 1 waits for its GPU in `call`, for so long in each. What
// steps would be shorter if rank 0 were faster.
double LostToRankZero(std::string_view call, int64_t waits_ns, int64_t gpu_ns = 1'000'000) {
  testing::StoreBuilder build;
  const ThreadId threads[] = {build.Thread(build.Process(100, "train.py", 0)),
                              build.Thread(build.Process(101, "train.py", 1))};
  for (int64_t step = 0; step < 8; ++step) {
    const int64_t start = step * kStepNs;
    for (const ThreadId thread : threads) {
      build.Range(thread, "step", start, start + kStepNs);
      const int64_t kernel_ns = thread == threads[0] ? 500'000 : gpu_ns;
      build.Kernel(thread, "gemm", start + 10'000, start + 20'000, start + 20'000 + kernel_ns);
    }
    build.ApiCall(threads[1], call, start + 1'000'000, start + 1'000'000 + waits_ns);
  }
  const Store store = build.Build();
  const StepInputs inputs(store);
  const StepSet steps = FindSteps(store);
  const std::vector<RankPace> paces = MeasurePaces(store, steps, BreakDownSteps(inputs, steps));
  std::vector<std::vector<int64_t>> lengths(2, std::vector<int64_t>(8, kStepNs));
  std::vector<PacedRank> ranks;
  for (size_t i = 0; i < 2; ++i)
    ranks.push_back({lengths[i], steps.processes[i].steady, &paces[i]});
  return JudgeLateRank({.rank = 0, .waited_ns = 5e6}, ranks).lost_ns;
}

TEST(RankPace, AllLaunchAtTheSameSpeed) {
  EXPECT_NEAR(LostToRankZero("cudaEventSynchronize", 500'000), 500'000, 1) << "of 6 ms";
}

TEST(RankPace, TheOthersOnlyWait) {
  EXPECT_NEAR(LostToRankZero("cudaEventSynchronize", 4'000'000), 4'000'000, 1);
  EXPECT_NEAR(LostToRankZero("cudaLaunchKernel", 4'000'000), 4'000'000, 1) << "a full queue";
  EXPECT_NEAR(LostToRankZero("cudaMalloc", 4'000'000), 0, 1) << "its own work";
}

TEST(RankPace, TheirGpuNeedsSoLong) {
  EXPECT_NEAR(LostToRankZero("cudaEventSynchronize", 4'000'000, 3'500'000), 2'500'000, 1);
}

// Two ranks of 20 steps that need `cpu_us` of 4 ms each by turns; rank 0 is waited for.
LateVerdict VerdictOn(const std::vector<uint32_t>& cpu_us, uint32_t gpu_us, uint32_t late_gpu_us,
                      const PhaseTimes* phase = nullptr) {
  std::vector<int64_t> step_ns(20, 4'000'000);
  std::vector<uint32_t> steady;
  RankPace pace, late;
  for (uint32_t step = 0; step < 20; ++step) {
    steady.push_back(step);
    pace.cpu_us.push_back(cpu_us[step % cpu_us.size()]);
    pace.gpu_us.push_back(gpu_us);
    late.cpu_us.push_back(4000);
    late.gpu_us.push_back(late_gpu_us);
  }
  const PacedRank ranks[] = {{step_ns, steady, &late}, {step_ns, steady, &pace}};
  return JudgeLateRank({.rank = 0, .phase = phase, .waited_ns = 1e6}, ranks);
}

TEST(RankPace, WhatMayBeChanceIsNotLost) {
  EXPECT_NEAR(VerdictOn({3800}, 2000, 2000).lost_ns, 200e3, 1);
  EXPECT_NEAR(VerdictOn({3800, 3700}, 2000, 2000).lost_ns, 250e3, 1);
  EXPECT_EQ(VerdictOn({3200, 4400}, 2000, 2000).lost_ns, 0) << "200 us, now less and now more";
}

TEST(RankPace, APhaseOrTheGpuExplainsWhatIsWaited) {
  const PhaseTimes phase;
  EXPECT_EQ(VerdictOn({4000}, 2000, 2000, &phase).lost_ns, 1e6);
  const LateVerdict on_gpu = VerdictOn({4000}, 2000, 3000);
  EXPECT_TRUE(on_gpu.on_gpu);
  EXPECT_EQ(on_gpu.lost_ns, 1e6);
  EXPECT_NEAR(on_gpu.longer_gpu_ns, 1e6, 1);
  EXPECT_EQ(VerdictOn({4000}, 0, 0).lost_ns, 1e6) << "nothing is known of a GPU";
}

TEST(RankPace, WithoutPacesAllThatIsWaitedIsLost) {
  const RankPace none;
  const PacedRank ranks[] = {{.pace = &none}, {.pace = &none}};
  EXPECT_EQ(JudgeLateRank({.rank = 1, .waited_ns = 1e6}, ranks).lost_ns, 1e6);
}

}  // namespace
}  // namespace batchlight
