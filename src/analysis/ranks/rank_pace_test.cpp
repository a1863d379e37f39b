#include "analysis/ranks/rank_pace.h"

#include <gtest/gtest.h>

#include "analysis/steps/step_inputs.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kStepNs = 6'000'000;

// Two ranks whose steps take 6 ms; rank 1 waits for its GPU in `call`, for so long in each. What
// steps would be shorter if rank 0 were faster.
LostToRank LostToRankZero(std::string_view call, int64_t waits_ns, double gpu_ns = 1'000'000) {
  testing::StoreBuilder build;
  const ThreadId threads[] = {build.Thread(build.Process(100, "train.py", 0)),
                              build.Thread(build.Process(101, "train.py", 1))};
  for (int64_t step = 0; step < 8; ++step) {
    const int64_t start = step * kStepNs;
    for (const ThreadId thread : threads) {
      build.Range(thread, "step", start, start + kStepNs);
      build.Kernel(thread, "gemm", start + 10'000, start + 20'000, start + 900'000);
    }
    build.ApiCall(threads[1], call, start + 1'000'000, start + 1'000'000 + waits_ns);
  }
  const Store store = build.Build();
  const StepInputs inputs(store);
  const StepSet steps = FindSteps(store);
  Distributed distributed;
  distributed.ranks.resize(2);
  distributed.ranks[1].compute_ns = gpu_ns;
  return MeasureLostTo(0, store, steps, BreakDownSteps(inputs, steps), distributed);
}

TEST(RankPace, AllLaunchAtTheSameSpeed) {
  const LostToRank lost = LostToRankZero("cudaEventSynchronize", 500'000);
  EXPECT_NEAR(lost.ns, 500'000, 1) << "of 6 ms";
  EXPECT_NEAR(lost.chance_ns, 0, 1) << "all steps are the same";
}

TEST(RankPace, TheOthersOnlyWait) {
  EXPECT_NEAR(LostToRankZero("cudaEventSynchronize", 4'000'000).ns, 4'000'000, 1);
  EXPECT_NEAR(LostToRankZero("cudaLaunchKernel", 4'000'000).ns, 4'000'000, 1) << "a full queue";
  EXPECT_NEAR(LostToRankZero("cudaMalloc", 4'000'000).ns, 0, 1) << "its own work";
}

TEST(RankPace, TheirGpuNeedsSoLong) {
  EXPECT_NEAR(LostToRankZero("cudaEventSynchronize", 4'000'000, 3'500'000).ns, 2'500'000, 1);
}

}  // namespace
}  // namespace batchlight
