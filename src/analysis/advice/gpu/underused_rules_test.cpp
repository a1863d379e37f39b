// A GPU that idles refers to a finding only where there is one about the cause.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

TEST(GpuUnderused, NamesTheFindingAboutItsCauseAndStandsBelowIt) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t t = 0; t < 200 * kMs; t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Phase(thread, Phase::kDataLoaderNext, "enumerate(DataLoader)", t, t + 8 * kMs);
    build.Kernel(thread, "nvjet_hsh_128", t + 8 * kMs, t + 8 * kMs + 5000, t + 10 * kMs - 5000);
  }
  const Store store = build.Build();
  const auto findings = FindAdvice(MeasureRun(store, {}));
  const Finding* cause = FindRule(findings, "dataloader-wait");
  const Finding* symptom = FindRule(findings, "gpu-underused");
  ASSERT_NE(cause, nullptr);
  ASSERT_NE(symptom, nullptr);
  EXPECT_LT(cause, symptom);
  EXPECT_EQ(symptom->action, "See \"" + cause->title + "\" (dataloader-wait).");
}

// Copies that were launched in time wait for the GPU.
TEST(GpuUnderused, RefersToNothingThatIsNotThere) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t t = 0; t < 200 * kMs; t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    for (int64_t i = 0; i < 100; ++i) {
      build.Kernel(thread, "nvjet_hsh_128", t + i * 1000, t + i * 90'000 + 30'000,
                   t + i * 90'000 + 90'000);
    }
  }
  const Store store = build.Build();
  const auto findings = FindAdvice(MeasureRun(store, {}));
  const Finding* symptom = FindRule(findings, "gpu-underused");
  ASSERT_NE(symptom, nullptr);
  EXPECT_NE(symptom->seen.find("idle: GPU queue"), std::string::npos) << symptom->seen;
  EXPECT_EQ(symptom->action.find("See "), std::string::npos) << symptom->action;
  EXPECT_EQ(symptom->action.find("finding"), std::string::npos) << symptom->action;
}

}  // namespace
}  // namespace batchlight
