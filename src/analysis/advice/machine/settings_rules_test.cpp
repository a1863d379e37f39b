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

// Twenty steps of 10 ms with operators of a microsecond that autograd follows, and looks every 2
// ms, of which so many in five are in a stack trace.
double GainOfAnomaly(int in_traces, bool has_samples = true) {
  StoreBuilder build;
  build.Property("torch.anomaly_detection", "True");
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  Store& store = build.store();
  for (const auto& [file, parent] : {std::pair{"/home/u/train.py", PythonStackId()},
                                     {"/usr/lib/python3.11/traceback.py", PythonStackId::At(0)},
                                     {"/usr/lib/python3.11/linecache.py", PythonStackId::At(1)}}) {
    store.python_frames.Append(
        {.file = build.Text(file), .function = build.Text("f"), .first_line = 1, .line = 4});
    store.python_stacks.Append(
        {.frame = PythonFrameId::At(store.python_frames.size() - 1), .parent = parent});
  }
  int64_t number = 0;
  for (int64_t i = 0, t = kMs; i < 20; ++i, t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    for (int64_t k = 0; k < 100; ++k) {
      build.Operator(thread, "aten::t", t + k * 10'000, t + k * 10'000 + 1000, ++number);
    }
    for (int look = 0; look < 5 && has_samples; ++look) {
      const int64_t at_ns = t + (look + 1) * 2 * kMs - 2000;
      store.python_samples.Append({.start_ns = at_ns - kMs,
                                   .end_ns = at_ns,
                                   .thread = thread,
                                   .python_stack = PythonStackId::At(look < in_traces ? 2 : 0),
                                   .samples = 1});
    }
  }
  const Store built = build.Build();
  const RunOverview run = BuildOverview(built);
  const Finding* found = FindRule(run.findings, "anomaly-detection");
  return found == nullptr ? 0 : found->gain_ns;
}

TEST(SettingsRules, AnomalyDetectionGainsWhatLooksFindInStackTraces) {
  EXPECT_NEAR(GainOfAnomaly(1), 1.4 * 0.2 * 10 * kMs, 0.1 * kMs);
  EXPECT_NEAR(GainOfAnomaly(4), 0.9 * 10 * kMs, 0.1 * kMs) << "the model computes too";
  // Where nothing looked, by the shortest operators, which wait for no processor.
  EXPECT_NEAR(GainOfAnomaly(0, false), 2 * 100 * 1000, 0.1 * kMs);
}

}  // namespace
}  // namespace batchlight
