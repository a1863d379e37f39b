// Rules about Python that only some steps run.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// A quarter of the steps hold 20 ms in `draw`, for `busy_ns` of which it had a processor.
std::vector<Finding> FindingsOfDrawing(int64_t busy_ns) {
  StoreBuilder build;
  build.store().python_frames.Append({.file = build.Text("/home/u/train.py"),
                                      .function = build.Text("draw"),
                                      .first_line = 40,
                                      .line = 42});
  build.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  const auto sample = [&](PythonStackId stack, int64_t from_ns, int64_t took_ns, int64_t cpu_ns) {
    build.store().python_samples.Append({.start_ns = from_ns,
                                         .end_ns = from_ns + took_ns,
                                         .thread = thread,
                                         .python_stack = stack,
                                         .samples = 1,
                                         .cpu_ns = cpu_ns});
  };
  int64_t t = 0;
  for (int i = 0; i < 40; ++i) {
    const int64_t pause_ns = i % 4 == 1 ? 20 * kMs : 0;
    build.Range(thread, "step", t, t + pause_ns + 10 * kMs - 1000);
    build.Operator(thread, "aten::mm", t, t + 5 * kMs);
    sample(PythonStackId::At(0), t, 4 * kMs, 4 * kMs);
    if (pause_ns > 0) sample(PythonStackId::At(0), t + 5 * kMs, 19 * kMs, busy_ns);
    build.Operator(thread, "aten::mm", t + 5 * kMs + pause_ns, t + pause_ns + 10 * kMs - 2000);
    t += pause_ns + 10 * kMs;
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(LoopRules, WhatSomeStepsDoForLongIsNamed) {
  const auto findings = FindingsOfDrawing(18 * kMs);
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`draw` (train.py:42): 33 % of the mean step, in 10 of 40 steps");
  EXPECT_NEAR(found->gain_ns, 0.8 * 5 * kMs, 0.1 * kMs);
  EXPECT_EQ(FindRule(FindingsOfDrawing(kMs), "python-work"), nullptr) << "it only waited";
}

}  // namespace
}  // namespace batchlight
