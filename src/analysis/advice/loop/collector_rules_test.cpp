// Full collections of Python's garbage collector: told where they take time, and no stage of their
// own where they come in front of an iteration's first call.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// Steps of 10 ms, before every tenth of which a collection of `collection_ns` comes.
RunOverview RunWith(StoreBuilder& build, int64_t collection_ns) {
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t at_ns = kMs;
  for (int i = 0; i < 100; ++i, at_ns += 10 * kMs) {
    if (i % 10 == 9 && collection_ns > 0) {
      build.Phase(thread, Phase::kGarbageCollection, "garbage collection", at_ns + kMs / 2,
                  at_ns + kMs / 2 + collection_ns);
      at_ns += collection_ns;
    }
    build.Module(thread, "net", "Net", at_ns + kMs, at_ns + 4 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", at_ns + 4 * kMs, at_ns + 8 * kMs);
    build.Phase(thread, Phase::kOptimizerStep, "SGD.step", at_ns + 8 * kMs, at_ns + 10 * kMs);
  }
  static Store store;
  store = build.Build();
  return BuildOverview(store);
}

TEST(CollectorRules, FullCollectionsAreTold) {
  StoreBuilder build;
  const RunOverview run = RunWith(build, 40 * kMs);
  const Finding* found = FindRule(run.findings, "garbage-collection");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("full collections in the steady steps took 40.0 ms each"),
            std::string::npos)
      << found->seen;
  EXPECT_NEAR(found->gain_ns, 0.9 * 4 * kMs, 0.5 * kMs);
  EXPECT_EQ(run.stages.Main()->Of(StageKind::kBetweenSteps), nullptr);
}

TEST(CollectorRules, ShortOnesAreNot) {
  StoreBuilder build;
  EXPECT_EQ(FindRule(RunWith(build, kMs / 2).findings, "garbage-collection"), nullptr);
}

}  // namespace
}  // namespace batchlight
