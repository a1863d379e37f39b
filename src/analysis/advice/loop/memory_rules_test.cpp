#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// 20 steps of 10 ms, in each of which `remember` of train.py allocates `bytes` and frees them
// `held_ms` later; -1: never.
std::vector<Finding> FindingsOf(uint64_t bytes, int64_t held_ms) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.store().python_frames.Append({.file = build.Text("/home/u/train.py"),
                                      .function = build.Text("remember"),
                                      .first_line = 3,
                                      .line = 5});
  build.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t t = i * 10 * kMs;
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.store().memory_blocks.Append({.start_ns = t + kMs,
                                        .end_ns = held_ms < 0 ? kOpenEnd : t + kMs + held_ms * kMs,
                                        .thread = thread,
                                        .bytes = bytes,
                                        .represented_bytes = bytes,
                                        .python_stack = PythonStackId::At(0)});
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(MemoryRules, ALineThatKeepsWhatItAllocatesIsNamed) {
  const auto findings = FindingsOf(2'000'000, -1);
  const Finding* found = FindRule(findings, "memory-growth");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`remember` (train.py:5) holds 2.00 MB more after each step");
  EXPECT_NE(found->seen.find("40.0 MB at the end"), std::string::npos) << found->seen;
}

TEST(MemoryRules, WhatIsFreedOrSmallIsNone) {
  EXPECT_EQ(FindRule(FindingsOf(2'000'000, 3), "memory-growth"), nullptr);
  EXPECT_EQ(FindRule(FindingsOf(2'000'000, 15), "memory-growth"), nullptr);  // into the next step
  EXPECT_EQ(FindRule(FindingsOf(10'000, -1), "memory-growth"), nullptr);
}

}  // namespace
}  // namespace batchlight
