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
struct Row {
  int count = 200;
  bool learns = true;
  bool followed = true;       // by autograd; what it does not follow has one number
  int64_t pause_ns = 0;       // in the middle
  int64_t kernel_ns = 0;      // of what each launches; 0: nothing
  int layers_from = INT_MAX;  // from this one on each operator is the call of a module,
  int layers = INT_MAX;       // so many of them in turn
  bool works = false;         // every second one for most of the time of two
  std::vector<const char*> names = {"aten::add", "aten::logsumexp", "aten::logsumexp",
                                    "aten::logsumexp"};
};

std::vector<Finding> FindingsOf(const Row& row) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  const int64_t length = 4 * kMs / row.count;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs, first = i * 1000;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Module(thread, "crf", "CRF", at, at + 5 * kMs);
    int64_t free_ns = at;
    const auto launch = [&](int64_t start) {
      if (row.kernel_ns == 0) return;
      const int64_t from = std::max(start + 4000, free_ns);
      free_ns = from + row.kernel_ns;
      build.Kernel(thread, "elementwise_kernel", start + 1000, from, free_ns);
    };
    for (int op = 0; op < row.count; ++op) {
      const int64_t start = at + op * length + (op > row.count / 2 ? row.pause_ns : 0);
      if (op >= row.layers_from) {
        build.Module(thread, "layers." + std::to_string(op % row.layers), "Linear", start - 100,
                     start + length - 900);
      }
      const int64_t later = row.works && op % 2 == 1 ? length * 4 / 5 : 0;
      const int64_t sooner = row.works && op % 2 == 0 ? length * 4 / 5 : 0;
      build.Operator(thread, row.names[static_cast<size_t>(op) % row.names.size()], start - later,
                     start + length - 1000 - sooner, row.followed ? first + op : first);
      launch(start);
    }
    build.Phase(thread, Phase::kBackward, "backward", at + 6 * kMs, at + 10 * kMs - 2000);
    for (int op = 0; row.learns && op < row.count; ++op) {
      const int64_t start = at + 6 * kMs + op * (length - 10);
      build.Operator(thread, "LogsumexpBackward0", start, start + length - 1000, first + op, 1,
                     OperatorScope::kBackward);
      launch(start);
    }
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

const Finding* SmallOperatorsIn(const std::vector<Finding>& findings) {
  return FindRule(findings, "small-operators");
}

TEST(RowRules, SmallOperatorsInARowAreToBeOne) {
  const auto findings = FindingsOf({});
  const Finding* found = SmallOperatorsIn(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->title.find("runs 200 small operators a step"), std::string::npos)
      << found->title;
  EXPECT_NEAR(found->gain_ns, 0.85 * 7.8 * kMs, 0.3 * kMs);
  EXPECT_EQ(SmallOperatorsIn(FindingsOf({.count = 120})), nullptr) << "few";
  EXPECT_EQ(SmallOperatorsIn(FindingsOf({.layers_from = 0})), nullptr) << "a deep model";
  EXPECT_EQ(SmallOperatorsIn(FindingsOf({.learns = false})), nullptr) << "data";
  EXPECT_EQ(SmallOperatorsIn(FindingsOf({.followed = false})), nullptr);
  EXPECT_NE(SmallOperatorsIn(FindingsOf({.pause_ns = 2 * kMs})), nullptr) << "a pause";
}

// 160 operators of 4 and 44 us in turn: of each long one 14 us are no call's. What they compute is
// left, however many elements are taken at once.
TEST(RowRules, WhatSmallOperatorsComputeIsNoGain) {
  const auto findings = FindingsOf({.count = 160, .works = true});
  const Finding* found = SmallOperatorsIn(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.85 * 7.8 * (1 - 80 * 0.014 / 4) * kMs, 0.3 * kMs);
}

// A GRU that is called for each time step computes as much in one call for all of them, but for
// what a GPU's launches cost.
TEST(RowRules, ARecurrentLayerInALoopKeepsItsWork) {
  Row row{.names = {"aten::add", "aten::logsumexp", "aten::gru", "aten::logsumexp"}};
  const auto findings = FindingsOf(row);
  const Finding* found = SmallOperatorsIn(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->title.find("runs 150 small operators a step"), std::string::npos)
      << found->title;
  EXPECT_NEAR(found->gain_ns, 0.85 * 7.8 * 0.75 * kMs, 0.3 * kMs);
  row.kernel_ns = 2000;
  const auto on_gpu = FindingsOf(row);
  found = SmallOperatorsIn(on_gpu);
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.95 * 7.8 * kMs, 0.3 * kMs);
}

// It was told as bound by launches, in no place, and of half of what it costs.
TEST(RowRules, OnAGpuSmallOperatorsAreToldBeforeLaunches) {
  const auto findings = FindingsOf({.kernel_ns = 2000});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().rule, "small-operators");
  EXPECT_EQ(findings.front().title.find("`crf` runs 200 small operators a step"), 0u)
      << findings.front().title;
  EXPECT_NEAR(findings.front().gain_ns, 0.95 * 7.8 * kMs, 0.3 * kMs);
  const auto with_layers = FindingsOf({.kernel_ns = 2000, .layers_from = 180});
  const Finding* launches = FindRule(with_layers, "launch-bound");
  ASSERT_NE(launches, nullptr);
  EXPECT_NE(launches->seen.find("90 % of them begin in `crf` (CRF)"), std::string::npos)
      << launches->seen;
}

TEST(RowRules, TheModelBehindALoopIsNoPartOfIt) {
  const auto findings = FindingsOf({.layers_from = 180});
  const Finding* found = SmallOperatorsIn(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->title.find("runs 180 small operators a step"), std::string::npos)
      << found->title;
}

// An LSTM by hand on a GPU was told as bound by launches: its two layers are called once a time
// step.
TEST(RowRules, ALoopCallsTheSameModulesAgain) {
  const auto findings = FindingsOf({.kernel_ns = 2000, .layers_from = 0, .layers = 2});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().rule, "small-operators");
  EXPECT_EQ(SmallOperatorsIn(FindingsOf({.layers_from = 0, .layers = 100})), nullptr)
      << "twice through a deep model";
  EXPECT_EQ(SmallOperatorsIn(FindingsOf({.kernel_ns = 24'000, .layers_from = 0, .layers = 2})),
            nullptr)
      << "the GPU has its work";
}

TEST(RowRules, GatesInALoopAreThoseOfARecurrentLayer) {
  const auto findings =
      FindingsOf({.names = {"aten::addmm", "aten::sigmoid", "aten::tanh", "aten::mul"}});
  EXPECT_EQ(SmallOperatorsIn(findings), nullptr) << "fewer than 100 of a name";
  const auto gates =
      FindingsOf({.count = 240,
                  .layers_from = 0,
                  .layers = 1,
                  .names = {"aten::mul", "aten::sigmoid", "aten::mul", "aten::tanh"}});
  const Finding* found = SmallOperatorsIn(gates);
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->action.find("nn.LSTM"), std::string::npos) << found->action;
  const auto others = FindingsOf({});
  ASSERT_NE(SmallOperatorsIn(others), nullptr);
  EXPECT_EQ(SmallOperatorsIn(others)->action.find("nn.LSTM"), std::string::npos);
}

}  // namespace
}  // namespace batchlight
