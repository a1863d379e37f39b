// Loops in forward that call small operators one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// 20 steps of 10 ms: `count` operators in a row that take 4 ms in all, and a backward of 4 ms.
// Those that autograd does not follow have one number. Each launches a kernel where that takes
// time.
std::vector<Finding> FindingsOfRow(int count, bool learns, int64_t pause_ns = 0,
                                   bool followed = true, bool as_layers = false,
                                   int64_t kernel_ns = 0, int layers_from = INT_MAX) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  const int64_t length = 4 * kMs / count;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs, first = i * 1000;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Module(thread, "crf", "CRF", at, at + 5 * kMs);
    int64_t free_ns = at;
    const auto launch = [&](int64_t start) {
      if (kernel_ns == 0) return;
      const int64_t from = std::max(start + 4000, free_ns);
      free_ns = from + kernel_ns;
      build.Kernel(thread, "elementwise_kernel", start + 1000, from, free_ns);
    };
    for (int row = 0; row < count; ++row) {
      const int64_t start = at + row * length + (row > count / 2 ? pause_ns : 0);
      if (as_layers || row >= layers_from)
        build.Module(thread, "layers.0", "Linear", start - 100, start + length - 900);
      build.Operator(thread, row % 4 == 0 ? "aten::add" : "aten::logsumexp", start,
                     start + length - 1000, followed ? first + row : first);
      launch(start);
    }
    build.Phase(thread, Phase::kBackward, "backward", at + 6 * kMs, at + 10 * kMs - 2000);
    for (int row = 0; learns && row < count; ++row) {
      const int64_t start = at + 6 * kMs + row * (length - 10);
      build.Operator(thread, "LogsumexpBackward0", start, start + length - 1000, first + row, 1,
                     OperatorScope::kBackward);
      launch(start);
    }
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(RowRules, SmallOperatorsInARowAreToBeOne) {
  const auto findings = FindingsOfRow(200, true);
  const Finding* found = FindRule(findings, "small-operators");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->title.find("runs 200 small operators a step"), std::string::npos)
      << found->title;
  EXPECT_NEAR(found->gain_ns, 0.7 * 7.8 * kMs, 0.3 * kMs);
  EXPECT_EQ(FindRule(FindingsOfRow(120, true), "small-operators"), nullptr) << "few";
  EXPECT_EQ(FindRule(FindingsOfRow(200, true, 0, true, true), "small-operators"), nullptr)
      << "a deep model";
  EXPECT_EQ(FindRule(FindingsOfRow(200, false), "small-operators"), nullptr) << "data";
  EXPECT_EQ(FindRule(FindingsOfRow(200, true, 0, false), "small-operators"), nullptr);
  EXPECT_NE(FindRule(FindingsOfRow(200, true, 2 * kMs), "small-operators"), nullptr) << "a pause";
}

// It was told as bound by launches, in no place, and of half of what it costs.
TEST(RowRules, OnAGpuSmallOperatorsAreToldBeforeLaunches) {
  const auto findings = FindingsOfRow(200, true, 0, true, false, 2000);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().rule, "small-operators");
  EXPECT_EQ(findings.front().title.find("`crf` runs 200 small operators a step"), 0u)
      << findings.front().title;
  EXPECT_NEAR(findings.front().gain_ns, 0.95 * 7.8 * kMs, 0.3 * kMs);
  const auto with_layers = FindingsOfRow(200, true, 0, true, false, 2000, 180);
  const Finding* launches = FindRule(with_layers, "launch-bound");
  ASSERT_NE(launches, nullptr);
  EXPECT_NE(launches->seen.find("90 % of them begin in `crf` (CRF)"), std::string::npos)
      << launches->seen;
}

TEST(RowRules, TheModelBehindALoopIsNoPartOfIt) {
  const auto findings = FindingsOfRow(200, true, 0, true, false, 0, 180);
  const Finding* found = FindRule(findings, "small-operators");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->title.find("runs 180 small operators a step"), std::string::npos)
      << found->title;
}

}  // namespace
}  // namespace batchlight
