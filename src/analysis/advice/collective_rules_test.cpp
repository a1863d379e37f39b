// All-reduces that the loop starts itself.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// 20 steps of 20 ms: forward, backward and `count` all-reduces that take 8 ms together, behind
// backward or in it as DistributedDataParallel's on the CPU.
std::vector<Finding> FindingsOfSums(int count, bool behind) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "sync_sgd.py"));
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t t = step * 20 * kMs;
    build.Range(thread, "step", t, t + 20 * kMs - 1000);
    build.Operator(thread, "aten::linear", t, t + 4 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", t + 4 * kMs, t + (behind ? 10 : 19) * kMs);
    for (int i = 0; i < count; ++i) {
      const int64_t at = t + 10 * kMs + i * 8 * kMs / count;
      build.Operator(thread, "c10d::allreduce_", at, at + 8 * kMs / count - 100);
    }
    build.Phase(thread, Phase::kOptimizerStep, "SGD.step", t + 19 * kMs, t + 20 * kMs - 2000);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(CollectiveRules, SumsOfSingleTensorsAreSaid) {
  const auto findings = FindingsOfSums(250, true);
  const Finding* found = FindRule(findings, "small-collectives");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Ranks sum up tensor by tensor: 250 all-reduces a step");
  EXPECT_NEAR(found->gain_ns, 0.8 * 8 * kMs, 0.2 * kMs);
  EXPECT_EQ(FindRule(FindingsOfSums(4, true), "small-collectives"), nullptr) << "of buckets";
  EXPECT_EQ(FindRule(FindingsOfSums(250, false), "small-collectives"), nullptr) << "in backward";
}

}  // namespace
}  // namespace batchlight
