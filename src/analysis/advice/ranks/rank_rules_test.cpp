// Rules about what ranks do to each other.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/testing/findings.h"
#include "analysis/testing/launch_bound_job.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// Steps of four micro-batches, of which `synced` start a collective and wait for it. With a GPU
// that is gloo, which has no kernels.
std::vector<Finding> FindingsOfMicroBatches(int64_t synced, bool has_gpu = false) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0, t = 0; i < 20; ++i) {
    for (int64_t k = 0; k < 4; ++k, t += 10 * kMs) {
      build.Module(thread, "Net", "Net", t, t + 3 * kMs);
      build.Phase(thread, Phase::kBackward, "backward", t + 3 * kMs, t + 9 * kMs);
      build.Operator(thread, "aten::mm", t + 3 * kMs, t + 5 * kMs);
      if (has_gpu) {
        build.Kernel(thread, "nvjet_hsh_128", t + 3 * kMs + 1000, t + 3 * kMs + 5000, t + 5 * kMs);
      }
      if (k < 4 - synced) continue;
      build.Operator(thread, "c10d::allreduce_", t + 5 * kMs, t + 5 * kMs + 1000);
    }
    build.Phase(thread, Phase::kOptimizerStep, "SGD.step", t, t + kMs);
    t += kMs;
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(LoopRules, GradientsNeedNoSumBeforeTheLastMicroBatch) {
  const auto findings = FindingsOfMicroBatches(4);
  const Finding* found = FindRule(findings, "sync-each-micro-batch");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Ranks sum up their gradients in each of 4 micro-batches");
  EXPECT_NEAR(found->gain_ns, 0.8 * 12 * kMs, 0.5 * kMs);  // 3 of 4 times 4 ms
  EXPECT_EQ(FindRule(FindingsOfMicroBatches(1), "sync-each-micro-batch"), nullptr);
  const auto of_gpu = FindingsOfMicroBatches(4, true);
  found = FindRule(of_gpu, "sync-each-micro-batch");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.8 * 12 * kMs, 0.5 * kMs);
}

// Two ranks without a GPU: rank 1 pauses in every fifth step, rank 0 waits for it in backward. The
// first step of rank 0 alone is so long that it does not count.
TEST(RankRules, StepsAreComparedByTheirNumbers) {
  StoreBuilder build;
  for (int32_t rank = 0; rank < 2; ++rank) {
    const ThreadId thread =
        build.Thread(build.Process(7 + static_cast<uint32_t>(rank), "train.py", rank));
    int64_t t = 0;
    for (int64_t i = 0; i < 40; ++i) {
      const int64_t pause = i % 5 == 2 ? 20 * kMs : 0;
      build.Operator(thread, "aten::stack", t, t + (rank == 1 ? pause : 0) + kMs / 10);
      if (rank == 1) t += pause;
      const int64_t forward = (i == 0 && rank == 0 ? 60 : 2) * kMs;
      build.Module(thread, "Net", "Net", t, t + forward);
      t += forward;
      const int64_t backward = 2 * kMs + (rank == 0 ? pause : 0);
      build.Phase(thread, Phase::kBackward, "backward", t, t + backward);
      t += backward;
      build.Phase(thread, Phase::kOptimizerStep, "SGD.step", t, t + kMs);
      t += kMs;
    }
  }
  const auto findings = BuildOverview(build.Build()).findings;
  const Finding* found = FindRule(findings, "straggler");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Rank 1 makes the others wait for Python outside of the model");
  EXPECT_NE(found->seen.find("in 8 of 39 steps (2, 7, 12, 17, 22, ...)"), std::string::npos)
      << found->seen;
  EXPECT_NE(found->seen.find("aten::stack takes 20.1 ms of such a step there, 100 µs at most"),
            std::string::npos)
      << found->seen;
}

TEST(RankRules, NoRankIsBlamedWhereAllLaunchAtTheSameSpeed) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Store store = testing::LaunchBoundJob(2 + seed % 7, seed, 0.1, 0);
    const auto findings = BuildOverview(store).findings;
    const Finding* found = FindRule(findings, "straggler");
    EXPECT_EQ(found, nullptr) << "seed " << seed << ": " << found->seen;
  }
}

TEST(RankRules, ARankThatLaunchesLaterThanTheOthersIs) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const size_t ranks = 2 + seed % 7;
    const Store store = testing::LaunchBoundJob(ranks, seed, 0.01, 0.03);
    const auto findings = BuildOverview(store).findings;
    const Finding* found = FindRule(findings, "straggler");
    ASSERT_NE(found, nullptr) << "seed " << seed;
    EXPECT_EQ(found->title.find("Rank " + std::to_string(ranks - 1) + " makes"), 0u)
        << found->title;
  }
}

}  // namespace
}  // namespace batchlight
