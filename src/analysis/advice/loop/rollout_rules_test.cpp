// Rules about rollouts of reinforcement learning.
#include <gtest/gtest.h>

#include <string>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// Six rounds: a policy is called 40 times without gradients, every 5 ms, then ten updates of 10 ms.
// Short operators, with Python between them, follow each call for `around_ns`.
RunOverview RunOfRollouts(const std::string& shapes, int64_t call_ns = 3 * kMs,
                          int64_t around_ns = 0, bool has_children = false,
                          const char* read_in = nullptr, bool copies = false,
                          int64_t last_read_ns = 0) {
  static Store store;
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "ppo.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  if (has_children) {
    const ProcessId child = build.Process(8, "ppo.py");
    build.store().processes.parent_pid[child.row()] = 7;
  }
  for (const auto& [file, function] : {std::pair("/home/u/ppo.py", "step"),
                                       std::pair("/usr/lib/python3.12/copy.py", "deepcopy")}) {
    const auto row = static_cast<uint32_t>(build.store().python_frames.size());
    build.store().python_frames.Append(
        {.file = build.Text(file), .function = build.Text(function), .line = 90});
    build.store().python_stacks.Append(
        {.frame = PythonFrameId::At(row),
         .parent = row == 0 ? PythonStackId() : PythonStackId::At(row - 1)});
  }
  int64_t t = kMs;
  for (int round = 0; round < 6; ++round) {
    for (int call = 0; call < 40; ++call, t += 5 * kMs) {
      build.Module(thread, "Policy", "Policy", t, t + call_ns);
      build.Phase(thread, Phase::kEvaluationCall, "no_grad", t + 1, t + call_ns - 1);
      build.Operator(thread, "aten::addmm", t + 1000, t + call_ns / 2, -1, 0,
                     OperatorScope::kFunction, shapes);
      for (int64_t at = t + call_ns; at < t + call_ns + around_ns; at += kMs / 10) {
        build.Operator(thread, "aten::sub", at, at + kMs / 100);
      }
      for (int64_t look = 1; copies && look < 5; ++look) {  // three of four in a copy
        build.store().python_samples.Append({.start_ns = t + look * kMs - kMs / 2,
                                             .end_ns = t + look * kMs,
                                             .thread = thread,
                                             .python_stack = PythonStackId::At(look > 1),
                                             .samples = 1});
      }
      if (shapes.empty()) {
        if (read_in != nullptr) {
          build.Operator(thread, read_in, t + call_ns - 4, t + call_ns + kMs + 4);
        }
        if (call == 39) t += last_read_ns;
        build.Operator(thread, "aten::item", t + call_ns - 2, t + call_ns + kMs + 2);
        build.Operator(thread, "aten::_local_scalar_dense", t + call_ns, t + call_ns + kMs);
      }
    }
    for (int step = 0; step < 10; ++step, t += 10 * kMs) {
      build.Module(thread, "Policy", "Policy", t, t + 4 * kMs);
      build.Phase(thread, Phase::kBackward, "backward", t + 4 * kMs, t + 8 * kMs);
      build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#Adam.step", t + 8 * kMs,
                  t + 10 * kMs);
    }
  }
  build.Phase(thread, Phase::kMainEnd, "end of main program", t, t);
  build.store().processes.end_ns[0] = t + kMs;
  store = build.Build();
  return BuildOverview(store);
}

constexpr const char* kOne = "[[64], [1, 4], [4, 64]]";
constexpr const char* kEight = "[[64], [8, 4], [4, 64]]";

TEST(RolloutRules, OneSampleAtATimeIsSaid) {
  const RunOverview run = RunOfRollouts(kOne);
  const Finding* found = FindRule(run.findings, "rollout-of-one");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("240 times"), std::string::npos) << found->seen;
  EXPECT_EQ(found, &run.findings.front());
}

TEST(RolloutRules, WithoutShapesNumbersReadOneByOneTell) {
  EXPECT_NE(FindRule(RunOfRollouts("").findings, "rollout-of-one"), nullptr);
  // Later than between any two calls: the rollout is over by then.
  const RunOverview run = RunOfRollouts("", 3 * kMs, 0, false, nullptr, false, 4 * kMs);
  EXPECT_NE(FindRule(run.findings, "rollout-of-one"), nullptr);
}

// torch.distributions looks whether its numbers are valid, and so does torch.normal, for one sample
// as for eight.
TEST(RolloutRules, WhatOperatorsAndConditionsReadAreNoAnswersReadOneByOne) {
  for (const char* read_in : {"aten::is_nonzero", "aten::normal"}) {
    EXPECT_EQ(FindRule(RunOfRollouts("", 3 * kMs, 0, false, read_in).findings, "rollout-of-one"),
              nullptr)
        << read_in;
  }
}

TEST(RolloutRules, ABatchOfEnvironmentsIsNoFinding) {
  EXPECT_EQ(FindRule(RunOfRollouts(kEight).findings, "rollout-of-one"), nullptr);
}

// An environment that takes four fifths: larger batches would not help it.
TEST(RolloutRules, WhatLiesOutsideOfTheModelIsNotItsGain) {
  const RunOverview run = RunOfRollouts(kOne, kMs);
  EXPECT_EQ(FindRule(run.findings, "rollout-of-one"), nullptr);
  const Finding* found = FindRule(run.findings, "rollout-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("80"), 0u) << found->title;
  const double work_ns = 0.8 * double(run.stages.Main()->Of(StageKind::kRollout)->total_ns);
  EXPECT_NEAR(found->run_gain_ns, 0.6 * work_ns, 0.05 * work_ns);
  EXPECT_EQ(FindRule(RunOfRollouts(kOne).findings, "rollout-work"), nullptr);
}

// An environment that copies its state in each step, for nobody.
TEST(RolloutRules, CopiesOfTheStateCanAllBeSaved) {
  const RunOverview run = RunOfRollouts(kOne, kMs, 0, false, nullptr, true);
  const Finding* found = FindRule(run.findings, "rollout-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->action.find("Copy a state"), 0u) << found->action;
  const auto total_ns = double(run.stages.Main()->Of(StageKind::kRollout)->total_ns);
  EXPECT_NEAR(found->run_gain_ns, (0.9 * 0.75 + 0.6 * 0.05) * total_ns, 0.03 * total_ns);
}

// A distribution made of the answer, with its checks: it costs as much for one sample as for many.
TEST(RolloutRules, PythonAroundTheCallsIsSavedWithThem) {
  const RunOverview run = RunOfRollouts(kOne, kMs / 5, 3 * kMs);
  EXPECT_EQ(FindRule(run.findings, "rollout-work"), nullptr);
  const Finding* found = FindRule(run.findings, "rollout-of-one");
  ASSERT_NE(found, nullptr);
  const auto total_ns = double(run.stages.Main()->Of(StageKind::kRollout)->total_ns);
  EXPECT_NEAR(found->run_gain_ns, 0.85 * 0.62 * total_ns, 0.03 * total_ns);
}

TEST(RolloutRules, EnvironmentsInProcessesAreNotToldToMoveThere) {
  const auto action = [](bool has_children) {
    return FindRule(RunOfRollouts(kOne, kMs, 0, has_children).findings, "rollout-work")->action;
  };
  EXPECT_NE(action(false).find("AsyncVectorEnv"), std::string::npos);
  EXPECT_EQ(action(true).find("AsyncVectorEnv"), std::string::npos);
}

TEST(RolloutRules, ARolloutIsAStageAndNotAValidation) {
  const RunOverview run = RunOfRollouts(kEight);
  const ProcessStages* stages = run.stages.Main();
  ASSERT_NE(stages, nullptr);
  const StageTotal* rollouts = stages->Of(StageKind::kRollout);
  ASSERT_NE(rollouts, nullptr);
  // The first lies before the loop; each ends half a pause before the first update.
  EXPECT_GE(rollouts->total_ns, 5 * 190 * kMs);
  EXPECT_LE(rollouts->total_ns, 6 * 201 * kMs);
  EXPECT_EQ(stages->Of(StageKind::kValidation), nullptr);
  EXPECT_EQ(stages->Of(StageKind::kBetweenEpochs), nullptr);
}

}  // namespace
}  // namespace batchlight
