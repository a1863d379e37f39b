// All-reduces that the loop starts itself.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

enum class Where { kBehindBackward, kInBackward, kInForward };

// 20 steps of 20 ms: forward, backward and `count` all-reduces that take 8 ms together: behind
// backward, in it as DistributedDataParallel's on the CPU, or in forward as those of a layer that
// ranks share.
std::vector<Finding> FindingsOfSums(int count, Where where) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "sync_sgd.py"));
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t t = step * 20 * kMs;
    build.Range(thread, "step", t, t + 20 * kMs - 1000);
    build.Operator(thread, "aten::linear", t, t + 4 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", t + 4 * kMs,
                t + (where == Where::kInBackward ? 19 : 9) * kMs);
    if (where == Where::kInForward) {
      build.Module(thread, "Shared", "Shared", t + 9 * kMs + 1000, t + 19 * kMs - 1000);
    }
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
  const auto findings = FindingsOfSums(250, Where::kBehindBackward);
  const Finding* found = FindRule(findings, "small-collectives");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Ranks sum up tensor by tensor: 250 all-reduces a step");
  EXPECT_NEAR(found->gain_ns, 0.8 * 8 * kMs, 0.2 * kMs);
  EXPECT_EQ(FindRule(FindingsOfSums(4, Where::kBehindBackward), "small-collectives"), nullptr)
      << "of buckets";
  for (const Where where : {Where::kInBackward, Where::kInForward}) {
    EXPECT_EQ(FindRule(FindingsOfSums(250, where), "small-collectives"), nullptr) << int(where);
  }
}

}  // namespace
}  // namespace batchlight
