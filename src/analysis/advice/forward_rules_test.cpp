// Rules about forwards that could be fewer or larger, and about updates by hand.
#include <gtest/gtest.h>

#include <string>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

class Loop {
 public:
  Loop() : thread_(build_.Thread(build_.Process(7, "train.py"))) {
    build_.Phase(thread_, Phase::kPythonStart, "python start", 0, 0);
  }
  // A forward of two operators in a module, and its backward.
  void Learn(int64_t ns) {
    build_.Module(thread_, "Student", "Student", at_, at_ + ns);
    build_.Operator(thread_, "aten::linear", at_ + 1000, at_ + ns / 2, sequence_);
    build_.Operator(thread_, "aten::relu", at_ + ns / 2, at_ + ns, sequence_ + 1);
    at_ += ns;
    build_.Phase(thread_, Phase::kBackward, "backward", at_, at_ + ns);
    build_.Operator(thread_, "AddmmBackward0", at_ + 1000, at_ + ns - 1000, sequence_, 1,
                    OperatorScope::kBackward);
    at_ += ns;
    sequence_ += 2;
  }
  // The same with a part of `ms` in front, whose operators have numbers if it runs with gradients.
  void LearnBehind(int64_t ms, bool without_gradients) {
    build_.Module(thread_, "Student", "Student", at_, at_ + (ms + 4) * kMs);
    build_.Module(thread_, "Student.encoder", "Encoder", at_ + 1000, at_ + ms * kMs);
    build_.Operator(thread_, "aten::conv2d", at_ + 2000, at_ + ms * kMs - 1000,
                    without_gradients ? -1 : sequence_);
    build_.Operator(thread_, "aten::linear", at_ + ms * kMs, at_ + (ms + 4) * kMs, sequence_ + 1);
    at_ += (ms + 4) * kMs;
    build_.Phase(thread_, Phase::kBackward, "backward", at_, at_ + kMs);
    build_.Operator(thread_, "AddmmBackward0", at_ + 1000, at_ + kMs - 1000, sequence_ + 1, 1,
                    OperatorScope::kBackward);
    at_ += kMs;
    sequence_ += 2;
  }
  void Teach(int64_t ms, bool without_gradients) {
    build_.Module(thread_, "Teacher", "Teacher", at_, at_ + ms * kMs);
    if (without_gradients) {
      build_.Phase(thread_, Phase::kEvaluationCall, "eval, no_grad", at_ + 1, at_ + ms * kMs - 1);
    }
    build_.Operator(thread_, "aten::conv2d", at_ + 1000, at_ + ms * kMs - 1000);
    at_ += ms * kMs;
  }
  void Update() {
    build_.Phase(thread_, Phase::kOptimizerStep, "Optimizer.step#SGD.step", at_, at_ + kMs);
    at_ += kMs;
  }
  // Updates of eight parameters.
  void UpdateByHand(const char* write) {
    for (int i = 0; i < 8; ++i, at_ += kMs) {
      build_.Operator(thread_, "aten::mul", at_, at_ + kMs / 2);
      build_.Operator(thread_, write, at_ + kMs / 2, at_ + kMs - 1000);
    }
  }
  void Say(const char* key, const char* value) { build_.Property(key, value); }
  RunOverview Run() {
    store_ = build_.Build();
    return BuildOverview(store_);
  }

 private:
  StoreBuilder build_;
  ThreadId thread_;
  Store store_;
  int64_t at_ = kMs;
  int64_t sequence_ = 0;
};

TEST(ForwardRules, ATeacherThatRunsInEveryStepIsNamed) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.Teach(20, true);
    loop.Learn(4 * kMs);
    loop.Update();
  }
  const RunOverview run = loop.Run();
  const Finding* found = FindRule(run.findings, "frozen-forward");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->title.find("`Teacher`"), std::string::npos) << found->title;
}

TEST(ForwardRules, AFrozenPartOfAModelThatLearnsIsNamed) {
  for (const bool without_gradients : {true, false}) {
    Loop loop;
    for (int i = 0; i < 30; ++i) {
      loop.LearnBehind(20, without_gradients);
      loop.Update();
    }
    const RunOverview run = loop.Run();
    const Finding* found = FindRule(run.findings, "frozen-forward");
    ASSERT_EQ(found != nullptr, without_gradients);
    if (found == nullptr) continue;
    EXPECT_NE(found->title.find("`Student.encoder`"), std::string::npos) << found->title;
  }
}

TEST(ForwardRules, AModuleThatOnlyHasNoRecordedBackwardIsNotCalledFrozen) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.Teach(20, false);
    loop.Learn(4 * kMs);
    loop.Update();
  }
  const RunOverview run = loop.Run();
  EXPECT_EQ(FindRule(run.findings, "frozen-forward"), nullptr);
}

TEST(ForwardRules, ManySmallBatchesOfOneUpdateAreSaid) {
  const auto found = [](int64_t ns, int micro_batches) {
    Loop loop;
    for (int i = 0; i < 12; ++i) {
      for (int k = 0; k < micro_batches; ++k) loop.Learn(ns);
      loop.Update();
    }
    return FindRule(loop.Run().findings, "small-micro-batches") != nullptr;
  };
  EXPECT_TRUE(found(50'000, 64));
  EXPECT_FALSE(found(kMs, 64)) << "of large operators";
  EXPECT_FALSE(found(50'000, 4)) << "four";
}

TEST(SizeRules, PaddingBeyondTheLongestOfABatchIsSaid) {
  const auto gain_ns = [](const char* beyond) {
    Loop loop;
    for (int i = 0; i < 12; ++i) {
      loop.Learn(4 * kMs);
      loop.Update();
    }
    loop.Say("data.padding", "0.9");
    loop.Say("data.padding_beyond_longest", beyond);
    const RunOverview run = loop.Run();
    const Finding* found = FindRule(run.findings, "padding-to-one-length");
    return found == nullptr ? 0 : found->gain_ns;
  };
  EXPECT_NEAR(gain_ns("0.75"), 0.75 * 8 * kMs, 0.1 * kMs);
  EXPECT_EQ(gain_ns("0.1"), 0);
}

TEST(OptimizerRules, AnUpdateByHandIsTheOptimizersPhase) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.Learn(4 * kMs);
    loop.UpdateByHand("aten::sub_");
  }
  const RunOverview run = loop.Run();
  const Finding* found = FindRule(run.findings, "update-by-hand");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.7 * 8 * kMs, 0.6 * kMs);
}

TEST(OptimizerRules, WhatWritesNothingBehindABackwardIsNoUpdate) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.Learn(4 * kMs);
    loop.UpdateByHand("aten::add");
  }
  const RunOverview run = loop.Run();
  EXPECT_EQ(FindRule(run.findings, "update-by-hand"), nullptr);
}

}  // namespace
}  // namespace batchlight
