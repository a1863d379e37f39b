// Rules about what lies beside the steps.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// Five epochs of ten steps of 10 ms, each followed by a validation.
std::vector<Finding> FindingsOfValidations(int64_t validation_ns) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int step = 0; step < 10; ++step) {
      build.Range(thread, "step", t, t + 10 * kMs - 1000);
      t += 10 * kMs;
    }
    build.Phase(thread, Phase::kValidation, "validate", t, t + validation_ns);
    t += validation_ns;
  }
  build.Range(thread, "step", t, t + 10 * kMs);
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(StageRules, ValidationThatTakesLongerThanTraining) {
  const auto findings = FindingsOfValidations(200 * kMs);
  const Finding* found = FindRule(findings, "validation-cost");
  ASSERT_NE(found, nullptr);
  // Once instead of five times.
  EXPECT_NEAR(found->run_gain_ns, 0.8 * 1000 * kMs, 0.15 * 1000 * kMs);
  EXPECT_EQ(found->gain_ns, 0);
  EXPECT_GT(found->run_share, 0.4);
  EXPECT_FALSE(found->patch.empty());
}

TEST(StageRules, AShortValidationIsFine) {
  EXPECT_EQ(FindRule(FindingsOfValidations(5 * kMs), "validation-cost"), nullptr);
}

TEST(StageRules, HowOftenIsSaidInEnglish) {
  const auto findings = FindingsOfValidations(30 * kMs);
  const Finding* found = FindRule(findings, "validation-cost");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->action.find("Validate every 3rd time, "), 0u) << found->action;
}

// The index that the first sample asks for is paid once; what each step loses stands above it.
TEST(StageRules, WhatIsPaidOnceStandsBelowTheLoop) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int step = 0; step < 30; ++step) {
    const int64_t load_ns = step == 0 ? 4000 * kMs : 10 * kMs;
    build.Range(thread, "step", t, t + load_ns + 20 * kMs - 1000);
    build.Phase(thread, Phase::kDataLoaderNext,
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t, t + load_ns);
    t += load_ns + 20 * kMs;
  }
  const Store store = build.Build();
  const auto findings = BuildOverview(store).findings;
  const Finding* once = FindRule(findings, "first-batch");
  const Finding* loop = FindRule(findings, "dataloader-wait");
  ASSERT_NE(once, nullptr);
  ASSERT_NE(loop, nullptr);
  EXPECT_GT(once->run_share, loop->run_share);
  EXPECT_EQ(once->rank, FindingRank::kOther);
  EXPECT_EQ(loop->rank, FindingRank::kOfTheLoop);
  EXPECT_LT(loop, once);
}

// Four epochs of ten updates; between them something of 100 ms.
std::vector<Finding> FindingsBetweenEpochs(bool calls_the_model) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int step = 0; step < 10; ++step) {
      build.Operator(thread, "aten::mm", t, t + 4 * kMs);
      build.Phase(thread, Phase::kBackward, "backward", t + 4 * kMs, t + 8 * kMs);
      build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", t + 8 * kMs,
                  t + 10 * kMs);
      t += 10 * kMs;
    }
    for (int i = 0; i < 100 && epoch < 4; ++i, t += kMs) {
      if (calls_the_model) build.Operator(thread, "aten::addmm", t + 1000, t + kMs / 2);
    }
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(StageRules, RolloutsBetweenEpochsAreNoPlots) {
  EXPECT_NE(FindRule(FindingsBetweenEpochs(false), "between-epochs"), nullptr);
  EXPECT_EQ(FindRule(FindingsBetweenEpochs(true), "between-epochs"), nullptr);
}

TEST(StageRules, ARunThatStartsAtOnceHasNothingToSetUp) {
  const auto findings = FindingsOfValidations(5 * kMs);
  for (const std::string_view rule :
       {"set-up-cost", "preprocessing-cost", "first-batch", "start-up", "between-epochs"}) {
    EXPECT_EQ(FindRule(findings, rule), nullptr) << rule;
  }
}

// Nine seconds of imports, then ten steps of 100 ms.
std::vector<Finding> FindingsOfImports(std::string_view package) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 50 * kMs, 50 * kMs);
  build.Phase(thread, Phase::kImport, package, 100 * kMs, 9100 * kMs);
  build.Phase(thread, Phase::kImport, "numpy", 200 * kMs, 8000 * kMs);
  int64_t t = 9200 * kMs;
  for (int step = 0; step < 10; ++step, t += 100 * kMs) {
    build.Module(thread, "Net", "Net", t, t + 50 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", t + 50 * kMs, t + 80 * kMs);
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", t + 80 * kMs,
                t + 100 * kMs);
  }
  build.Phase(thread, Phase::kMainEnd, "end of main program", t, t);
  build.store().processes.end_ns[0] = t + 10 * kMs;
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(StageRules, WhatPyTorchImportsIsNobodysToChange) {
  const auto findings = FindingsOfImports("pandas");
  const Finding* found = FindRule(findings, "start-up");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("Imports beside PyTorch take 88 % of the run"), 0u) << found->title;
  EXPECT_EQ(FindRule(FindingsOfImports("torch"), "start-up"), nullptr);
}

}  // namespace
}  // namespace batchlight
