#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// What the rule says of a loop on the CPU whose linear layers take 6 of 10 ms.
Finding OfLoop(StoreBuilder build, std::string_view rule) {
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0, t = kMs; i < 20; ++i, t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Operator(thread, "aten::linear", t, t + 6 * kMs, 1);
    build.Operator(thread, "aten::addmm", t + kMs, t + 6 * kMs, 1);
    build.Operator(thread, "aten::gelu", t + 6 * kMs, t + 9 * kMs, 2);
  }
  const Store store = build.Build();
  const RunOverview run = BuildOverview(store);
  const Finding* found = FindRule(run.findings, rule);
  return found == nullptr ? Finding{} : *found;
}

// nullptr: not recorded.
Finding HalfPrecision(const char* avx512, const char* type) {
  StoreBuilder build;
  if (avx512 != nullptr) build.Property("machine.avx512", avx512);
  if (type != nullptr) build.Property("model.half_on_cpu", type);
  return OfLoop(std::move(build), "half-precision-cpu");
}

TEST(SettingsRules, HalfPrecisionOnAProcessorWithoutItIsNamed) {
  const Finding found = HalfPrecision("no", "bfloat16");
  EXPECT_EQ(found.title, "The CPU computes in bfloat16 without instructions for it");
  EXPECT_NE(found.seen.find("take 6.00 ms of a step"), std::string::npos) << found.seen;
  EXPECT_NEAR(found.gain_ns, 0.85 * 6 * kMs, 0.1 * kMs);
  EXPECT_EQ(HalfPrecision("yes", "bfloat16").gain_ns, 0);
  EXPECT_EQ(HalfPrecision(nullptr, "bfloat16").gain_ns, 0) << "not known, as of an ARM processor";
  EXPECT_EQ(HalfPrecision("no", nullptr).gain_ns, 0);
}

TEST(SettingsRules, ThreadsWithoutAProcessorCostTheirShareOfLongOperators) {
  StoreBuilder build;
  build.Property("torch.threads", "8");
  build.Property("machine.cores", "2");
  build.Property("site.threads", "train.py:11");
  const Finding found = OfLoop(std::move(build), "too-many-threads");
  EXPECT_EQ(found.patch.place, "train.py:11");
  EXPECT_NEAR(found.gain_ns, 9 * kMs * (1 - 2.0 / 8), 0.1 * kMs);
}

}  // namespace
}  // namespace batchlight
