#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// Steps of 10 ms, of which the training thread waits for the GIL in the first `waited_ns`.
std::vector<Finding> FindingsOf(int64_t waited_ns) {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId thread = build.Thread(process);
  const ThreadId other = build.Thread(process);
  Store& store = build.store();
  store.threads.name[other.row()] = build.Text("loader");
  for (const char* function : {"train", "decode"}) {
    store.python_frames.Append(
        {.file = build.Text("/home/u/data.py"), .function = build.Text(function), .line = 31});
    store.python_stacks.Append({.frame = PythonFrameId::At(store.python_frames.size() - 1)});
  }
  const auto sample = [&](ThreadId of, size_t stack, int64_t start_ns, int64_t end_ns, GilState gil,
                          ThreadId holder) {
    if (start_ns == end_ns) return;
    store.python_samples.Append({.start_ns = start_ns,
                                 .end_ns = end_ns,
                                 .thread = of,
                                 .python_stack = PythonStackId::At(stack),
                                 .samples = 1,
                                 .gil = gil,
                                 .gil_holder = holder});
  };
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t t = i * 10 * kMs;
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    sample(thread, 0, t, t + waited_ns, GilState::kWaits, other);
    sample(thread, 0, t + waited_ns, t + 10 * kMs, GilState::kHolds, {});
  }
  sample(other, 1, 0, 400 * kMs, GilState::kHolds, {});
  const Store built = build.Build();
  return BuildOverview(built).findings;
}

TEST(GilRules, TheHolderIsNamedWithItsFunction) {
  const auto findings = FindingsOf(4 * kMs);
  const Finding* found = FindRule(findings, "gil-wait");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "The training thread waits for the GIL in 40 % of a step");
  EXPECT_NE(found->seen.find("in 100 % of that time `decode` (data.py:31) of thread loader had"),
            std::string::npos)
      << found->seen;
  EXPECT_NEAR(found->gain_ns, 0.9 * 4 * kMs, 0.1 * kMs);
}

TEST(GilRules, ALittleIsNoFinding) {
  EXPECT_EQ(FindRule(FindingsOf(kMs / 5), "gil-wait"), nullptr);
  EXPECT_EQ(FindRule(FindingsOf(0), "gil-wait"), nullptr);
}

}  // namespace
}  // namespace batchlight
