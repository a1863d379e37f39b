// Modules that are called again with what they were called with before.
#include <gtest/gtest.h>

#include <string>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

struct Calls {
  int encodes = 6;    // calls of `encode` in a step, 2 ms each with 3 ms of backward
  int backwards = 1;  // phases in which these are
  const char* told = "60 50 encode";
};

// 20 steps in which Net calls `encode`, then 10 ms of others.
std::vector<Finding> FindingsOf(Calls calls) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Property("torch.version", "2.11.0");
  build.Property("model.repeats", calls.told);
  int64_t at = kMs, sequence = 0;
  for (int step = 0; step < 20; ++step) {
    const int64_t first = at;
    const int64_t forward = (2 * calls.encodes + 10) * kMs;
    build.Module(thread, "Net", "Net", at, at + forward);
    for (int i = 0; i < calls.encodes; ++i, at += 2 * kMs) {
      build.Module(thread, "encode", "Sequential", at + 100, at + 2 * kMs);
      build.Operator(thread, "aten::conv2d", at + 200, at + 2 * kMs - 100, sequence + i);
    }
    build.Operator(thread, "aten::mul", at, at + 9 * kMs);
    at += 10 * kMs;
    const int each = calls.encodes / calls.backwards;
    for (int i = 0; i < calls.encodes; ++i, at += 3 * kMs) {
      if (i % each == 0) {
        build.Phase(thread, Phase::kBackward, "backward", at, at + 3 * each * kMs);
      }
      build.Operator(thread, "ConvolutionBackward0", at + 100, at + 3 * kMs - 100, sequence + i, 1,
                     OperatorScope::kBackward);
    }
    sequence += calls.encodes;
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", at, at + kMs);
    at += kMs;
    build.Range(thread, "step", first, at);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

const Finding* Find(const std::vector<Finding>& findings) {
  return FindRule(findings, "repeated-forward");
}

TEST(RepeatRules, CallsWithTheSameInputAreToBeOne) {
  const auto findings = FindingsOf({});
  const Finding* found = Find(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->title.starts_with("`encode` runs 6 times on the same input")) << found->title;
  EXPECT_NE(found->seen.find("6 times a step, and 83 %"), std::string::npos) << found->seen;
  EXPECT_NEAR(found->gain_ns, 0.95 * 5 * 5 * kMs, kMs);
}

TEST(RepeatRules, SeveralBackwardsNeedTheirOwnTime) {
  const auto findings = FindingsOf({.backwards = 6});
  const Finding* found = Find(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.95 * 5 * 2 * kMs, kMs);
  // Two micro-batches, each with one backward for its calls.
  const auto accumulated = FindingsOf({.backwards = 2, .told = "60 40 encode"});
  found = Find(accumulated);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->title.starts_with("`encode` runs 3 times on")) << found->title;
  EXPECT_NEAR(found->gain_ns, 0.95 * 4 * 5 * kMs, kMs);
}

TEST(RepeatRules, TheDearestIsToldAndWhatCostsLittleIsNot) {
  const auto dearest = FindingsOf({.told = "90 2 Net\n60 50 encode\n60 50 other"});
  const Finding* found = Find(dearest);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->title.starts_with("`encode`")) << found->title;
  for (const char* told : {"", "60 4 encode", "60 50 other", "60", "x y encode"}) {
    EXPECT_EQ(Find(FindingsOf({.told = told})), nullptr) << told;
  }
}

// 20 steps in which `moe` calls eight experts, 1 ms each with 2 ms of backward, behind `choose`.
std::vector<Finding> FindingsOfExperts(const char* told, const char* choose = "aten::topk") {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Property("model.experts", told);
  int64_t at = kMs, sequence = 0;
  constexpr int kExperts = 8;
  for (int step = 0; step < 20; ++step) {
    const int64_t first = at;
    build.Module(thread, "Net", "Net", at, at + (kExperts + 4) * kMs);
    build.Module(thread, "moe", "SparseMoE", at + 10, at + (kExperts + 2) * kMs);
    build.Module(thread, "moe.router", "Linear", at + 20, at + kMs);
    build.Operator(thread, choose, at + 30, at + kMs - 100);
    at += 2 * kMs;
    for (int i = 0; i < kExperts; ++i, at += kMs) {
      build.Module(thread, "moe.experts." + std::to_string(i), "Expert", at + 100, at + kMs);
      build.Module(thread, "moe.experts." + std::to_string(i) + ".up", "Linear", at + 150,
                   at + kMs - 50);
      build.Operator(thread, "aten::linear", at + 200, at + kMs - 100, sequence + i);
    }
    at += 2 * kMs;
    build.Phase(thread, Phase::kBackward, "backward", at, at + 2 * kExperts * kMs);
    for (int i = 0; i < kExperts; ++i, at += 2 * kMs) {
      build.Operator(thread, "AddmmBackward0", at + 100, at + 2 * kMs - 100, sequence + i, 1,
                     OperatorScope::kBackward);
    }
    sequence += kExperts;
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", at, at + kMs);
    at += kMs;
    build.Range(thread, "step", first, at);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(ExpertRules, ExpertsThatAreNotChosenAreNotToBeComputed) {
  const auto findings = FindingsOfExperts("8 2 moe.experts");
  const Finding* found = FindRule(findings, "dense-experts");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`moe` computes all 8 experts for all tokens, the router chooses 2");
  EXPECT_NEAR(found->gain_ns, 0.7 * 0.75 * 24 * kMs, kMs);
  const auto unknown = FindingsOfExperts("8 0 moe.experts");
  found = FindRule(unknown, "dense-experts");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.7 * 0.5 * 24 * kMs, kMs);
  EXPECT_EQ(found->uncertainty_ns, found->gain_ns);
}

TEST(ExpertRules, HeadsWithoutARouterAreLeftAlone) {
  EXPECT_EQ(FindRule(FindingsOfExperts("8 2 moe.experts", "aten::sigmoid"), "dense-experts"),
            nullptr);
  for (const char* told : {"", "8 2 moe.others", "8 8 moe.experts", "2 moe.experts"}) {
    EXPECT_EQ(FindRule(FindingsOfExperts(told), "dense-experts"), nullptr) << told;
  }
}

}  // namespace
}  // namespace batchlight
