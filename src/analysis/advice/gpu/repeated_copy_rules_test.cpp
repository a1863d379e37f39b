// What the loop copies to the GPU though the GPU was given it before.
#include <gtest/gtest.h>

#include <string_view>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// 20 steps of 10 ms: two copies of 3 ms and 1 ms from pageable memory, then 4 ms of kernels.
std::vector<Finding> FindingsOf(std::string_view repeated) {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId thread = build.Thread(process);
  if (!repeated.empty()) build.Property("copies.repeated", repeated, process);
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Copy(thread, CopyKind::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice,
               30'000'000, at + 1000, at + 10'000, at + 3 * kMs);
    build.Copy(thread, CopyKind::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice,
               10'000'000, at + 3 * kMs + 1000, at + 3 * kMs + 10'000, at + 4 * kMs);
    build.Kernel(thread, "nvjet_hsh_128", at + 4 * kMs + 1000, at + 4 * kMs + 20'000, at + 8 * kMs);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(RepeatedCopyRules, WhatTheGpuWasGivenBeforeIsToStayThere) {
  const auto findings = FindingsOf("19 20 30000000\n19 20 10000000");
  ASSERT_FALSE(findings.empty());
  const Finding& first = findings.front();
  EXPECT_EQ(first.rule, "repeated-copies");
  EXPECT_NE(first.title.find("38.0 MB a step"), std::string::npos) << first.title;
  EXPECT_NEAR(first.gain_ns, 0.95 * 4 * kMs, 0.3 * kMs);
  // The same time told less well.
  const Finding* pageable = FindRule(findings, "pageable-copy");
  ASSERT_NE(pageable, nullptr);
  ASSERT_FALSE(pageable->same_time_as.empty());
  EXPECT_EQ(pageable->same_time_as.front(), "repeated-copies");
}

TEST(RepeatedCopyRules, OnlyWhatCameAgain) {
  const auto findings = FindingsOf("19 20 10000000\n4 40 30000000");
  const Finding* found = FindRule(findings, "repeated-copies");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.95 * 0.95 * kMs, 0.1 * kMs);
}

TEST(RepeatedCopyRules, NoMoreThanAllOfThemCameAgain) {
  for (const std::string_view damaged : {"1e300 1 30000000", "inf 20 30000000"}) {
    const auto findings = FindingsOf(damaged);
    const Finding* found = FindRule(findings, "repeated-copies");
    ASSERT_NE(found, nullptr) << damaged;
    EXPECT_NE(found->title.find("30.0 MB a step"), std::string::npos) << found->title;
    EXPECT_LE(found->evidence.front().count, 20U);
  }
  EXPECT_EQ(FindRule(FindingsOf("nan 20 30000000"), "repeated-copies"), nullptr);
}

TEST(RepeatedCopyRules, BatchesAreNoneOfIt) {
  EXPECT_EQ(FindRule(FindingsOf(""), "repeated-copies"), nullptr);
  EXPECT_EQ(FindRule(FindingsOf("4 40 30000000"), "repeated-copies"), nullptr) << "now and then";
  EXPECT_EQ(FindRule(FindingsOf("19 20 77"), "repeated-copies"), nullptr) << "before the loop";
}

}  // namespace
}  // namespace batchlight
