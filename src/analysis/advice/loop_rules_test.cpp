// Rules about what the loop does beside the model, about ranks, and the order of findings.
#include <gtest/gtest.h>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;
constexpr int kSteps = 20;

// Steps of 10 ms of one process, each filled by add(builder, thread, number, start).
template <typename Add>
std::vector<Finding> FindingsOf(Add&& add, StoreBuilder build = {}) {
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < kSteps; ++i) {
    build.Range(thread, "step", i * 10 * kMs, (i + 1) * 10 * kMs - 1000);
    add(build, thread, i, i * 10 * kMs);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(LoopRules, PythonBetweenOperatorsIsTheProgramsOwn) {
  const auto findings = FindingsOf([](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
    build.Operator(thread, "aten::randn", t, t + kMs);
    build.Operator(thread, "aten::mm", t + 8 * kMs, t + 10 * kMs - 2000);
  });
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.95 * 7 * kMs, 0.1 * kMs);
  EXPECT_NE(found->seen.find("between `aten::randn` and `aten::mm`"), std::string::npos)
      << found->seen;
}

TEST(LoopRules, PythonInARangeHasItsName) {
  const auto findings = FindingsOf([](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
    build.Range(thread, "tokenize", t + kMs, t + 6 * kMs);
    build.Operator(thread, "aten::mm", t + 6 * kMs, t + 10 * kMs - 2000);
  });
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("`tokenize`: "), 0u) << found->title;
}

TEST(LoopRules, CallingOperatorsIsNoPythonOfTheProgram) {
  const auto findings = FindingsOf([](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
    for (int64_t i = 0; i < 100; ++i) {
      build.Operator(thread, "aten::mm", t + i * 99'000, t + i * 99'000 + 79'000);
    }
  });
  EXPECT_EQ(FindRule(findings, "python-work"), nullptr);
}

// A quarter of the steps hold 20 ms that something else took from them.
TEST(LoopRules, WhatHappensToFewStepsIsNotTheProgramsOwn) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int i = 0; i < 40; ++i) {
    const int64_t pause_ns = i % 4 == 0 ? 20 * kMs : 0;
    build.Range(thread, "step", t, t + pause_ns + 10 * kMs - 1000);
    build.Operator(thread, "aten::mm", t, t + 5 * kMs);
    build.Operator(thread, "aten::mm", t + 5 * kMs + pause_ns, t + pause_ns + 10 * kMs - 2000);
    t += pause_ns + 10 * kMs;
  }
  const Store store = build.Build();
  EXPECT_EQ(FindRule(BuildOverview(store).findings, "python-work"), nullptr);
}

// 300 operators of 20 us, `followed` by autograd or not.
std::vector<Finding> FindingsOfSmallOperators(bool followed, const char* name = "aten::lerp_") {
  int64_t sequence = 0;
  return FindingsOf([&](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
    build.Operator(thread, "aten::linear", t, t + 2 * kMs, ++sequence);
    for (int64_t i = 0; i < 300; ++i) {
      const int64_t at = t + 3 * kMs + i * 22'000;
      sequence += followed;
      build.Operator(thread, name, at, at + 20'000, followed ? sequence : -1);
    }
  });
}

TEST(LoopRules, TensorsThatAreUpdatedOneByOne) {
  const auto findings = FindingsOfSmallOperators(false);
  const Finding* found = FindRule(findings, "unfused-updates");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.8 * 300 * 22'000, 0.2 * kMs);
  EXPECT_FALSE(found->patch.empty());
}

// Metrics that read row after row: what averages weights at once is no patch for them.
TEST(LoopRules, LoopsOverRowsHaveNoPatchOfAnAverage) {
  const auto findings = FindingsOfSmallOperators(false, "aten::select");
  const Finding* found = FindRule(findings, "unfused-updates");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->patch.empty());
}

TEST(LoopRules, AModelOfManySmallOperatorsIsNoUpdate) {
  EXPECT_EQ(FindRule(FindingsOfSmallOperators(true), "unfused-updates"), nullptr);
}

// An optimizer whose step runs forward and backward itself, in a closure, as Lightning's do.
std::vector<Finding> FindingsOfClosure(std::string_view optimizer) {
  return FindingsOf([&](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
    build.Phase(thread, Phase::kOptimizerStep, optimizer, t + kMs, t + 9 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", t + 3 * kMs, t + 4 * kMs);
    for (int64_t i = 0; i < 300; ++i) {
      const int64_t at = t + 5 * kMs + i * 10'000;
      build.Operator(thread, "aten::mul_", at, at + 8'000);
    }
  });
}

TEST(LoopRules, AClosureIsNotTheOptimizersTime) {
  const auto findings = FindingsOfClosure("Optimizer.step#RMSprop.step");
  const Finding* found = FindRule(findings, "unfused-optimizer-cpu");
  ASSERT_NE(found, nullptr);
  // 5 ms follow the backward, of which the operators take 2.4.
  EXPECT_NEAR(found->gain_ns, 0.5 * 2.6 * kMs, 0.1 * kMs);
  EXPECT_NE(found->action.find("foreach=True"), std::string::npos) << found->action;
}

TEST(LoopRules, AnOptimizerThatPassesOverItsParametersNoOtherWay) {
  EXPECT_EQ(FindRule(FindingsOfClosure("Optimizer.step#LBFGS.step"), "unfused-optimizer-cpu"),
            nullptr);
}

// The optimizer of an import is a range of that name.
TEST(LoopRules, AnOptimizerThatOnlyARangeNames) {
  const auto findings = FindingsOf([](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
    build.Range(thread, "optimizer_step", t + 5 * kMs, t + 9 * kMs);
    for (int64_t i = 0; i < 300; ++i) {
      const int64_t at = t + 5 * kMs + i * 10'000;
      build.Operator(thread, "aten::mul_", at, at + 8'000);
    }
  });
  EXPECT_NE(FindRule(findings, "unfused-optimizer-cpu"), nullptr);
}

// Ranks of 20 steps; rank 1 does something else for `slow_ns` while rank 0 waits in backward.
std::vector<Finding> FindingsOfRanks(int64_t slow_ns) {
  StoreBuilder build;
  for (int32_t rank = 0; rank < 2; ++rank) {
    const ThreadId thread = build.Thread(build.Process(7 + uint32_t(rank), "train.py", rank));
    for (int64_t i = 0; i < kSteps; ++i) {
      const int64_t t = i * 10 * kMs;
      const int64_t forward_ns = t + kMs + (rank == 1 ? slow_ns : 0);
      build.Range(thread, "step", t, t + 10 * kMs - 1000);
      build.Phase(thread, Phase::kBackward, "backward", forward_ns, t + 9 * kMs);
    }
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(LoopRules, TheRankForWhichTheOthersWait) {
  const auto findings = FindingsOfRanks(4 * kMs);
  const Finding* found = FindRule(findings, "straggler");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.9 * 4 * kMs, 0.1 * kMs);
  EXPECT_EQ(found->title, "Rank 1 makes the others wait for Python outside of the model");
  EXPECT_NE(found->seen.find("in all 20 steps"), std::string::npos) << found->seen;
  EXPECT_EQ(FindRule(FindingsOfRanks(0), "straggler"), nullptr);
}

// Steps of 10 to 49 ms, of `sizes` lengths, each millisecond filled by add(builder, thread, number
// in its step, start). `padding`: what the batches that were looked at have; "" = none was.
template <typename Add>
std::vector<Finding> FindingsOfLengths(Add&& add, int64_t sizes = 40, const char* padding = "",
                                       const char* beyond = "") {
  StoreBuilder build;
  if (*padding != 0) build.Property("data.padding", padding);
  if (*beyond != 0) build.Property("data.padding_beyond_longest", beyond);
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t length = 10 + i * 7 % sizes * (40 / sizes);
    build.Range(thread, "step", t, t + length * kMs - 1000);
    for (int64_t number = 0; number < length; ++number) {
      add(build, thread, number, t + number * kMs);
    }
    t += length * kMs;
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

// Steps of one to five batches' work, or of the same time for no work.
std::vector<Finding> FindingsOfSizes(bool work_differs, int64_t sizes = 40,
                                     const char* padding = "", const char* beyond = "") {
  return FindingsOfLengths(
      [&](StoreBuilder& build, ThreadId thread, int64_t number, int64_t at) {
        if (!work_differs && number >= 10) return;
        build.Operator(thread, "aten::lstm_cell", at, at + kMs - 2000);
      },
      sizes, padding, beyond);
}

TEST(LoopRules, BatchesOfDifferentSizes) {
  const auto findings = FindingsOfSizes(true);
  const Finding* found = FindRule(findings, "padding");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 16 * kMs, kMs);
  EXPECT_EQ(FindRule(FindingsOfSizes(false), "padding"), nullptr);
  EXPECT_EQ(FindRule(FindingsOfSizes(true, 40, "0.8", "0.7"), "padding"), nullptr) << "of one size";
}

TEST(LoopRules, BatchesOfAFewSizesAreGroupedAlready) {
  EXPECT_NE(FindRule(FindingsOfSizes(true, 40), "padding"), nullptr);
  EXPECT_EQ(FindRule(FindingsOfSizes(true, 4), "padding"), nullptr);
}

TEST(LoopRules, PaddingThatWasCountedIsAllThatCanBeSaved) {
  EXPECT_EQ(FindRule(FindingsOfSizes(true, 40, "0.0000"), "padding"), nullptr);
  const auto findings = FindingsOfSizes(true, 40, "0.2500");
  const Finding* found = FindRule(findings, "padding");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.25 * 29.5 * kMs, kMs);
}

// One operator takes the whole sequence: forward and backward take one to four times as long, in
// turn or each on its own.
TEST(LoopRules, ForwardAndBackwardThatGrowTogetherAreBatchesOfDifferentSizes) {
  for (const bool together : {true, false}) {
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(7, "train.py"));
    int64_t t = 0;
    for (int64_t i = 0; i < 40; ++i) {
      const int64_t forward = 1 + i * i * 7 % 11 % 4,
                    backward = together ? forward : 1 + i * 5 % 7 % 4;
      const int64_t start = t;
      build.Module(thread, "Net", "Net", t, t + forward * 5 * kMs);
      t += forward * 5 * kMs;
      build.Phase(thread, Phase::kBackward, "backward", t, t + backward * 9 * kMs);
      t += backward * 9 * kMs;
      build.Range(thread, "step", start, t - 1000);
    }
    const Store store = build.Build();
    const auto findings = BuildOverview(store).findings;
    EXPECT_EQ(FindRule(findings, "padding") != nullptr, together);
  }
}

// A machine that slows down for some steps slows the optimizer down too.
TEST(LoopRules, ABusyMachineIsNoLargerBatch) {
  for (const bool busy : {true, false}) {
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(7, "train.py"));
    int64_t t = 0;
    for (int64_t i = 0; i < 40; ++i) {
      const int64_t slow = 1 + i * i * 7 % 11 % 4, of_optimizer = busy ? slow : 2;
      const int64_t start = t;
      build.Module(thread, "Net", "Net", t, t + slow * 5 * kMs);
      t += slow * 5 * kMs;
      build.Phase(thread, Phase::kBackward, "backward", t, t + slow * 9 * kMs);
      t += slow * 9 * kMs;
      build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", t,
                  t + of_optimizer * 3 * kMs);
      t += of_optimizer * 3 * kMs;
      build.Range(thread, "step", start, t - 1000);
    }
    const Store store = build.Build();
    EXPECT_EQ(FindRule(BuildOverview(store).findings, "padding") == nullptr, busy);
  }
}

// LBFGS' history grows: the optimizer's operators and time, not the model's.
TEST(LoopRules, AnOptimizerWithMoreToDoIsNoLargerBatch) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t updates = 10 + i, start = t;
    build.Module(thread, "Net", "Net", t, t + 5 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", t + 5 * kMs, t + 10 * kMs);
    t += 10 * kMs;
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#LBFGS.step", t, t + updates * kMs);
    for (int64_t op = 0; op < updates; ++op) {
      build.Operator(thread, "aten::add_", t + op * kMs, t + op * kMs + kMs - 2000);
    }
    t += updates * kMs;
    build.Range(thread, "step", start, t - 1000);
  }
  const Store store = build.Build();
  EXPECT_EQ(FindRule(BuildOverview(store).findings, "padding"), nullptr);
}

// A rollout of one to four calls of the policy is no batch of one to four lengths.
TEST(LoopRules, MoreCallsOfTheModelAreNotLargerBatches) {
  const auto findings =
      FindingsOfLengths([](StoreBuilder& build, ThreadId thread, int64_t, int64_t at) {
        build.Module(thread, "Policy", "Policy", at, at + kMs - 2000);
        build.Operator(thread, "aten::addmm", at + 1000, at + kMs - 3000);
      });
  EXPECT_EQ(FindRule(findings, "padding"), nullptr);
}

// Some steps lose time to something else, in proportion.
TEST(LoopRules, OwnPythonIsOfTheMeanStep) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int64_t i = 0; i < kSteps; ++i) {
    const int64_t slower = i % 4 == 3 ? 5 : 1;
    build.Range(thread, "step", t, t + slower * 10 * kMs - 1000);
    build.Operator(thread, "aten::mm", t, t + slower * 4 * kMs);
    t += slower * 10 * kMs;
  }
  const Store store = build.Build();
  const auto findings = BuildOverview(store).findings;
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.95 * 0.6 * 20 * kMs, 0.2 * kMs);  // the mean step is 20 ms
}

// Backwards of ten functions; autograd looks for NaN behind `looks` of them, as where a trainer
// switched anomaly detection on for its loop alone.
std::vector<Finding> FindingsOfChecks(int64_t looks) {
  return FindingsOf([&](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
    build.Operator(thread, "aten::linear", t, t + kMs, 1);
    build.Operator(thread, "aten::relu", t + kMs, t + 2 * kMs, 2);
    build.Phase(thread, Phase::kBackward, "backward", t + 2 * kMs, t + 8 * kMs);
    for (int64_t i = 0, at = t + 2 * kMs; i < 10; ++i, at += kMs / 2) {
      build.Operator(thread, "autograd::engine::evaluate_function: MmBackward0", at, at + 400'000);
      if (i < looks) build.Operator(thread, "aten::isnan", at + 300'000, at + 350'000);
    }
  });
}

TEST(LoopRules, AnomalyDetectionShowsInBackward) {
  const auto findings = FindingsOfChecks(10);
  const Finding* found = FindRule(findings, "anomaly-detection");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(
      found->seen,
      "Autograd looks for NaN 200 times in the 200 functions of the steady steps' backwards.");
  EXPECT_EQ(FindRule(FindingsOfChecks(3), "anomaly-detection"), nullptr) << "hooks of its own";
}

TEST(LoopRules, TwoWaysToAShorterOptimizerAddUpToOne) {
  std::vector<Finding> findings = {
      {.rule = "dense-embedding-gradients", .gain_ns = 7, .run_share = 0.7, .step_share = 0.7},
      {.rule = "unfused-optimizer-cpu", .gain_ns = 5, .run_share = 0.5, .step_share = 0.5}};
  advice::NameSharedGains(&findings);
  EXPECT_EQ(findings[1].same_time_as, (std::vector<std::string_view>{"dense-embedding-gradients"}));
  EXPECT_EQ(GainTogether(findings).share, 0) << "one is counted";
}

TEST(LoopRules, DoublePrecisionIsNamed) {
  const auto find = [](const char* share, int64_t operator_ns = 0) {
    StoreBuilder made;
    made.Property("torch.float64_parameters", share);
    made.Property("site.optimizer", "train.py:36");
    const auto findings = FindingsOf(
        [operator_ns](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
          build.Range(thread, "forward", t, t + 4 * kMs);
          for (int64_t at = t + 1000; operator_ns > 0 && at < t + 4 * kMs; at += operator_ns) {
            build.Operator(thread, "aten::addmm", at, at + operator_ns - 100);
          }
          build.Range(thread, "backward", t + 4 * kMs, t + 10 * kMs - 2000);
        },
        std::move(made));
    const Finding* found = FindRule(findings, "double-precision");
    if (found == nullptr) return 0.0;
    // Where the model was made float64 is not recorded: not where its optimizer is made.
    EXPECT_EQ(found->patch.place, "");
    return found->gain_ns;
  };
  EXPECT_NEAR(find("1.0000"), 0.5 * 10 * kMs, 0.1 * kMs);
  EXPECT_EQ(find("0.2000"), 0);
  EXPECT_NEAR(find("1.0000", kMs), 0.5 * 4 * kMs, 0.1 * kMs) << "what operators compute";
  EXPECT_NEAR(find("1.0000", 10'000), 0.5 * 2 * kMs, 0.1 * kMs) << "half of it is their calls";
}

TEST(LoopRules, WhatMadeTheModelDoublePrecisionIsNamed) {
  const auto find = [](const char* by) {
    StoreBuilder made;
    made.Property("torch.float64_parameters", "1.0000");
    made.Property("torch.float64_by", by);
    made.Property("site.float64", "train.py:12");
    const auto findings = FindingsOf(
        [](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
          build.Range(thread, "forward", t, t + 4 * kMs);
          build.Range(thread, "backward", t + 4 * kMs, t + 10 * kMs - 2000);
        },
        std::move(made));
    const Finding* found = FindRule(findings, "double-precision");
    return found == nullptr ? Finding{} : *found;
  };
  const auto expect = [&](const char* by, const char* seen, const char* diff) {
    const Finding found = find(by);
    EXPECT_EQ(found.patch.place, "train.py:12");
    EXPECT_NE(found.seen.find(seen), std::string::npos) << found.seen;
    EXPECT_EQ(found.patch.diff.find(diff), 0u) << found.patch.diff;
  };
  expect("Module.to", " Module.to makes the model so (train.py:12).", "-model.to(dtype)");
  expect("Module.double", " Module.double makes the model so", "-model = model.double()");
  expect("set_default_dtype",
         " They are made under torch.set_default_dtype(torch.float64) (train.py:12).",
         "-torch.set_default_dtype");
  expect("parameters", " They are float64 when the model is made (train.py:12).",
         "-dtype=torch.float64");
}

// Without a GPU nothing that is said is about one.
TEST(LoopRules, OnTheCpuNothingSpeaksOfAGpu) {
  StoreBuilder build;
  build.Property("torch.anomaly_detection", "True");
  build.Property("torch.threads", "8");
  build.Property("machine.cores", "2");
  const auto findings = FindingsOf(
      [&](StoreBuilder& loop, ThreadId thread, int64_t number, int64_t t) {
        loop.Phase(thread, Phase::kDataLoaderNext, "enumerate(DataLoader)#_MultiProcessing", t,
                   t + 2 * kMs);
        loop.Phase(thread, Phase::kBackward, "backward", t + 2 * kMs, t + 3 * kMs);
        loop.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#Adam.step", t + 3 * kMs,
                   t + 5 * kMs);
        for (int64_t op = 0; op < 250; ++op) {
          loop.Operator(thread, "aten::mul_", t + 3 * kMs + op * 6000,
                        t + 3 * kMs + op * 6000 + 900);
        }
        if (number % 4 == 0) {
          loop.Phase(thread, Phase::kCheckpoint, "torch.save", t + 5 * kMs, t + 8 * kMs);
        }
      },
      std::move(build));
  for (const std::string_view rule :
       {"dataloader-wait", "anomaly-detection", "unfused-optimizer-cpu", "too-many-threads"}) {
    EXPECT_NE(FindRule(findings, rule), nullptr) << rule;
  }
  for (const Finding& finding : findings) {
    const std::string all =
        finding.title + finding.seen + finding.why + finding.action + finding.patch.diff;
    for (const std::string_view word : {"GPU", "CUDA", "cuda", "pin_memory", "copy().cpu()"}) {
      EXPECT_EQ(all.find(word), std::string::npos) << finding.rule << ": " << all;
    }
  }
}

// Every fifth step waits 40 ms for data, or everything in it takes longer.
std::vector<Finding> FindingsOfUneven(bool by_data) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t more_ns = i % 5 == 4 ? 40 * kMs : 0;
    const int64_t data_ns = by_data ? kMs / 10 + more_ns : kMs / 10 + more_ns / 100;
    const int64_t length = 10 * kMs + more_ns;
    build.Range(thread, "step", t, t + length - 1000);
    build.Phase(thread, Phase::kDataLoaderNext, "enumerate(DataLoader)#_Multi", t, t + data_ns);
    build.Phase(thread, Phase::kBackward, "backward", t + data_ns, t + length - 2000);
    t += length;
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(LoopRules, UnevenStepsSayWhatTheLongOnesDoBelowEveryCause) {
  const auto findings = FindingsOfUneven(true);
  const Finding* found = FindRule(findings, "uneven-steps");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Steps are uneven: the long ones wait for data");
  EXPECT_EQ(found->kind, FindingKind::kSymptom);
  EXPECT_EQ(found->rank, FindingRank::kSymptom);
  EXPECT_EQ(found->gain_ns, 0);
  ASSERT_NE(FindRule(findings, "dataloader-wait"), nullptr);
  EXPECT_LT(FindRule(findings, "dataloader-wait"), found);
  EXPECT_EQ(FindRule(FindingsOfUneven(false), "uneven-steps"), nullptr);
}

TEST(LoopRules, LaunchBlockingNeedsAGpu) {
  for (const bool has_gpu : {true, false}) {
    StoreBuilder build;
    build.Property("environment.CUDA_LAUNCH_BLOCKING", "1");
    const auto findings = FindingsOf(
        [&](StoreBuilder& loop, ThreadId thread, int64_t, int64_t t) {
          if (has_gpu) loop.Kernel(thread, "nvjet_hsh_128", t + 1000, t + 3000, t + 5 * kMs);
        },
        std::move(build));
    EXPECT_EQ(FindRule(findings, "launch-blocking") != nullptr, has_gpu);
  }
}

// Two workers on two processors: a third would take its time from them.
TEST(LoopRules, NoMoreWorkersThanProcessors) {
  using Cores = std::pair<std::string_view, std::string_view>;  // of the machine, for the job
  for (const auto& [cores, usable] : {Cores{"2", ""}, Cores{"16", ""}, Cores{"16", "2"}}) {
    StoreBuilder build;
    build.Property("machine.cores", cores);
    if (!usable.empty()) build.Property("machine.usable_cores", usable);
    build.Property("torch.threads", "1");
    const auto findings = FindingsOf(
        [&](StoreBuilder& loop, ThreadId thread, int64_t number, int64_t t) {
          loop.Phase(thread, Phase::kDataLoaderNext, "enumerate(DataLoader)#_MultiProcessing", t,
                     t + 5 * kMs);
          if (number != 0) return;
          for (uint32_t pid : {8u, 9u}) {
            const ProcessId worker = loop.Process(pid, "train.py");
            ProcessesTable& processes = loop.store().processes;
            processes.parent_pid[worker.row()] = 7;
            processes.parent[worker.row()] = ProcessId::At(0);
            processes.end_ns[worker.row()] = 10 * kSteps * kMs;
          }
        },
        std::move(build));
    const Finding* found = FindRule(findings, "dataloader-wait");
    ASSERT_NE(found, nullptr);
    const bool has_room = cores == "16" && usable.empty();
    EXPECT_EQ(found->action.find("Give it more workers") == 0, has_room) << found->action;
  }
}

// A loop that loads by itself: two workers keep it fed, where there are two processors for its
// rank.
TEST(LoopRules, NoMoreFirstWorkersThanProcessors) {
  for (const auto& [cores, workers] :
       {std::pair{"1", "num_workers=1,"}, std::pair{"2", "num_workers=2,"},
        std::pair{"16", "num_workers=4,"}}) {
    StoreBuilder build;
    build.Property("machine.cores", cores);
    build.Property("torch.threads", "1");
    const auto findings = FindingsOf(
        [&](StoreBuilder& loop, ThreadId thread, int64_t, int64_t t) {
          loop.Phase(thread, Phase::kDataLoaderNext,
                     "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t, t + 5 * kMs);
        },
        std::move(build));
    const Finding* found = FindRule(findings, "dataloader-wait");
    ASSERT_NE(found, nullptr);
    EXPECT_NE(found->action.find(workers), std::string::npos) << found->action;
    EXPECT_NE(found->patch.diff.find(workers), std::string::npos) << found->patch.diff;
  }
}

Finding OfStep(std::string_view rule, double share) {
  Finding finding;
  finding.rule = rule;
  finding.gain_ns = 1e6;
  finding.step_share = finding.run_share = share;
  return finding;
}

TEST(LoopRules, GainsOfTheSameTimeCountOnceTogether) {
  std::vector<Finding> findings = {OfStep("tf32-off", 0.3), OfStep("amp-off", 0.25),
                                   OfStep("dataloader-wait", 0.1)};
  findings[1].same_time_as = {"tf32-off"};
  EXPECT_DOUBLE_EQ(GainTogether(findings).share, 0.4);
  EXPECT_EQ(GainTogether(std::span(findings).first(2)).share, 0);  // one gain
  EXPECT_EQ(CombinedText(findings), "The first 3 together: about 40 % of a step.");
  findings[2].run_gain_ns = 1e9;
  EXPECT_EQ(CombinedText(findings), "The first 3 together: about 40 % of the run.");
  for (Finding& finding : findings) finding.loop_share = 0.8 * finding.step_share;
  EXPECT_EQ(CombinedText(findings), "The first 3 together: about 32 % of the loop.");
}

// A model that runs three times on a batch, twice of it without a backward: 59 % and 42 % of a
// step.
TEST(LoopRules, CallsThatTwoRulesWouldLeaveOutCountOnce) {
  std::vector<Finding> findings = {OfStep("repeated-forward", 0.59),
                                   OfStep("unused-forward", 0.42)};
  advice::NameSharedGains(&findings);
  EXPECT_EQ(findings[1].same_time_as, (std::vector<std::string_view>{"repeated-forward"}));
  EXPECT_EQ(CombinedText(findings), "");
}

TEST(LoopRules, AGainSaysWhatItIsOf) {
  Finding finding = OfStep("amp-off", 0.41);
  finding.gain_ns = 12.3e6;
  finding.uncertainty_ns = 2e6;
  EXPECT_EQ(GainText(finding), "about 12.3 ms a step (± 2.00 ms), 41 % of it");
  Finding of_run;
  of_run.run_gain_ns = 12.3e9;
  of_run.run_share = 0.2;
  EXPECT_EQ(ShortGainText(of_run), "about 12.3 s, 20 % of the run");
  of_run.loop_share = 0.6;
  EXPECT_EQ(ShortGainText(of_run), "about 12.3 s, 60 % of the loop");
  EXPECT_EQ(GainText(Finding{}), "");
}

}  // namespace
}  // namespace batchlight
