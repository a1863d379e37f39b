// Rules about what lies beside the steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// A loader starts a worker process and has its first batch after `took_ns`.
void StartWorker(StoreBuilder& build, ThreadId thread, int64_t at_ns, int64_t took_ns) {
  build.Phase(thread, Phase::kDataLoaderInit, "DataLoader.__iter__", at_ns, at_ns + kMs);
  build.Phase(thread, Phase::kDataLoaderNext, "_MultiProcessingDataLoaderIter.__next__",
              at_ns + kMs, at_ns + took_ns);
  const ProcessId worker = build.Process(100, "train.py");
  build.store().processes.parent[worker.row()] = ProcessId::At(0);
  build.store().processes.start_ns[worker.row()] = at_ns;
  build.store().processes.end_ns[worker.row()] = at_ns + took_ns;
}

// A stack: this function, called by `parent`.
void Frame(StoreBuilder& build, const char* function, PythonStackId parent) {
  Store& store = build.store();
  store.python_frames.Append({.file = build.Text("/home/u/train.py"),
                              .function = build.Text(function),
                              .first_line = 1,
                              .line = 4});
  store.python_stacks.Append(
      {.frame = PythonFrameId::At(store.python_frames.size() - 1), .parent = parent});
}

void Sample(StoreBuilder& build, ThreadId thread, int64_t at_ns, size_t stack) {
  build.store().python_samples.Append({.start_ns = at_ns - 4 * kMs,
                                       .end_ns = at_ns,
                                       .thread = thread,
                                       .python_stack = PythonStackId::At(stack),
                                       .samples = 1});
}

// Five epochs of ten steps of 10 ms, each followed by a validation, whose loader may start workers
// for a part of it.
std::vector<Finding> FindingsOfValidations(int64_t validation_ns, const char* imported = nullptr,
                                           int64_t workers_ns = 0,
                                           const char* validates = nullptr) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  if (imported != nullptr) build.Phase(thread, Phase::kImport, imported, 0, kMs);
  if (validates != nullptr) {
    Frame(build, "main", {});
    Frame(build, validates, PythonStackId::At(0));
  }
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int step = 0; step < 10; ++step) {
      build.Range(thread, "step", t, t + 10 * kMs - 1000);
      if (workers_ns > 0) {
        build.Phase(thread, Phase::kDataLoaderNext, "_MultiProcessingDataLoaderIter.__next__", t,
                    t + 1000);
      }
      t += 10 * kMs;
    }
    if (validates != nullptr) {
      Sample(build, thread, t - 5 * kMs, 0);
      Sample(build, thread, t + validation_ns / 2, 1);
    }
    build.Phase(thread, Phase::kValidation, "validate", t, t + validation_ns);
    if (workers_ns > 0) StartWorker(build, thread, t + kMs, workers_ns);
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
  EXPECT_NE(
      found->action.find("its batches, which need no gradients (torch.no_grad), may be two to "
                         "four times as large"),
      std::string::npos)
      << found->action;
}

// Five epochs of ten steps, each followed by a validation of 30 calls of the model of 2 ms, with an
// operator in each whose number is read; `operator_ns` 0: operators are not recorded.
std::string ActionOfCalls(bool followed, bool read, int64_t operator_ns) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0, number = 1;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int step = 0; step < 10; ++step, t += 10 * kMs) {
      build.Range(thread, "step", t, t + 10 * kMs - 1000);
    }
    build.Phase(thread, Phase::kValidation, "validate", t, t + 60 * kMs);
    for (int call = 0; call < 30; ++call, t += 2 * kMs) {
      build.Module(thread, "Net", "Net", t, t + kMs);
      if (operator_ns > 0) {
        build.Operator(thread, "aten::addmm", t + 1000, t + 1000 + operator_ns, number);
      }
      if (followed) ++number;
      if (!read) continue;
      build.Operator(thread, "aten::_local_scalar_dense", t + kMs + 2000, t + kMs + 3000, number);
    }
  }
  build.Range(thread, "step", t, t + 10 * kMs);
  const Store store = build.Build();
  const RunOverview run = BuildOverview(store);
  const Finding* found = FindRule(run.findings, "validation-cost");
  EXPECT_NE(found, nullptr);
  if (found == nullptr) return "";
  EXPECT_NE(found->seen.find("They call the model 150 times, for 1.00 ms each."), std::string::npos)
      << found->seen;
  return found->action;
}

TEST(StageRules, AValidationThatAutogradFollowsIsToldSoFirst) {
  EXPECT_TRUE(ActionOfCalls(true, false, kMs / 2).starts_with("Put it under torch.no_grad()"));
  EXPECT_TRUE(ActionOfCalls(false, false, kMs / 2).starts_with("Validate every"));
  EXPECT_TRUE(ActionOfCalls(false, false, 0).starts_with("Validate every")) << "nothing is known";
}

TEST(StageRules, AValidationOfManySmallCallsIsToldToAskForMoreAtOnce) {
  const std::string_view more = "ask for many at once";
  EXPECT_NE(ActionOfCalls(false, true, 20'000).find(more), std::string::npos);
  EXPECT_EQ(ActionOfCalls(false, true, kMs / 2).find(more), std::string::npos) << "computes";
  EXPECT_EQ(ActionOfCalls(false, false, 20'000).find(more), std::string::npos)
      << "each may feed on the one before";
}

TEST(StageRules, WorkersThatStartInAValidationAreNotItsCost) {
  const auto findings = FindingsOfValidations(200 * kMs, nullptr, 195 * kMs);
  EXPECT_EQ(FindRule(findings, "validation-cost"), nullptr);
  const Finding* found = FindRule(findings, "dataloader-restart");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->run_gain_ns, 4 * 195.0 * kMs, 5.0 * kMs);
}

// The last call of an epoch waits for the worker's end, and __iter__ imports something.
TEST(StageRules, WorkersThatEndWithTheEpochAreWaitedForAsWell) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = kMs;
  for (int epoch = 0; epoch < 4; ++epoch) {
    StartWorker(build, thread, t, 100 * kMs);
    if (epoch == 0) build.Phase(thread, Phase::kImport, "queue", t + kMs / 4, t + kMs / 2);
    const size_t worker = build.store().processes.size() - 1;
    t += 101 * kMs;
    for (int i = 0; i < 8; ++i, t += 10 * kMs) {
      build.Range(thread, "step", t, t + 10 * kMs - 1000);
      build.Phase(thread, Phase::kDataLoaderNext, "_MultiProcessingDataLoaderIter.__next__",
                  t + 8 * kMs, t + 8 * kMs + 1000);
    }
    build.Phase(thread, Phase::kDataLoaderNext, "_MultiProcessingDataLoaderIter.__next__", t,
                t + 50 * kMs);
    build.store().processes.end_ns[worker] = t + 50 * kMs - 1;
    t += 51 * kMs;
  }
  const auto findings = BuildOverview(build.Build()).findings;
  const Finding* found = FindRule(findings, "dataloader-restart");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->run_gain_ns, (3 * 100 + 3 * 50.0) * kMs, 5.0 * kMs);
  EXPECT_NE(found->seen.find("4 starts"), std::string::npos) << found->seen;
  EXPECT_NE(found->seen.find("took 50.0 ms each"), std::string::npos) << found->seen;
}

// A worker of the last StartWorker is spawned, and imports torch for `ns`.
void Spawn(StoreBuilder& build, int64_t ns) {
  Store& store = build.store();
  const auto worker = ProcessId::At(store.processes.size() - 1);
  store.processes.command_line[worker.row()] = build.Text(
      "python -B -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)");
  const ThreadId thread = build.Thread(worker);
  const int64_t at_ns = store.processes.start_ns[worker.row()];
  build.Phase(thread, Phase::kImport, "__mp_main__", at_ns + kMs, at_ns + 2 * kMs + ns);
  build.Phase(thread, Phase::kImport, "torch", at_ns + 2 * kMs, at_ns + 2 * kMs + ns);
}

TEST(StageRules, SpawnedWorkersAreSaidToImportAnew) {
  const auto find = [](int epochs, int64_t took_ns, int64_t import_ns, std::string_view rule) {
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(7, "train.py"));
    int64_t t = kMs;
    for (int epoch = 0; epoch < epochs; ++epoch) {
      StartWorker(build, thread, t, took_ns);
      if (import_ns > 0) Spawn(build, import_ns);
      t += took_ns + kMs;
      for (int i = 0; i < 40; ++i, t += 10 * kMs) {
        build.Range(thread, "step", t, t + 10 * kMs - 1000);
        build.Phase(thread, Phase::kDataLoaderNext, "_MultiProcessingDataLoaderIter.__next__",
                    t + 8 * kMs, t + 8 * kMs + 1000);
      }
    }
    const auto findings = BuildOverview(build.Build()).findings;
    const Finding* found = FindRule(findings, rule);
    return found == nullptr ? Finding{} : *found;
  };
  const Finding again = find(4, 1000 * kMs, 700 * kMs, "dataloader-restart");
  EXPECT_NE(again.seen.find("a new Python, which imports for 701 ms (torch 700 ms)"),
            std::string::npos)
      << again.seen;
  EXPECT_EQ(again.action.find("DataLoader(..., persistent_workers=True). The first start"), 0u);
  const Finding forked = find(4, 1000 * kMs, 0, "dataloader-restart");
  EXPECT_EQ(forked.seen.find("spawned"), std::string::npos) << forked.seen;
  EXPECT_EQ(forked.action, "DataLoader(..., persistent_workers=True).");
  const Finding first = find(1, 4000 * kMs, 3500 * kMs, "first-batch");
  EXPECT_NE(first.seen.find("imports for 3.50 s"), std::string::npos) << first.seen;
  EXPECT_NE(first.action.find("forkserver"), std::string::npos) << first.action;
  const Finding index = find(1, 4000 * kMs, 500 * kMs, "first-batch");
  EXPECT_EQ(index.seen.find("spawned"), std::string::npos) << "it is not what takes the time";
}

// Text never speaks of what does not exist.
TEST(StageRules, OnlyAValidationThatStartsWorkersIsToldToKeepThem) {
  for (const int64_t workers_ns : {int64_t{0}, 50 * kMs}) {
    const auto findings = FindingsOfValidations(200 * kMs, nullptr, workers_ns);
    const Finding* found = FindRule(findings, "validation-cost");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->action.find("workers") != std::string::npos, workers_ns > 0) << found->action;
  }
}

TEST(StageRules, ATrainersLoopIsChangedByItsArguments) {
  const auto patch = [](const char* imported) {
    const auto findings = FindingsOfValidations(200 * kMs, imported);
    const Finding* found = FindRule(findings, "validation-cost");
    return found == nullptr ? std::string() : found->patch.diff;
  };
  EXPECT_NE(patch(nullptr).find("validate(model"), std::string::npos);
  EXPECT_NE(patch("transformers.trainer").find("TrainingArguments(eval_steps=5 * n)"),
            std::string::npos);
  EXPECT_NE(patch("lightning.pytorch.trainer.trainer").find("check_val_every_n_epoch=5"),
            std::string::npos);
}

TEST(StageRules, TheFunctionThatTheLoopCallsToValidateIsNamed) {
  const auto findings = FindingsOfValidations(200 * kMs, nullptr, 0, "print_samples");
  const Finding* found = FindRule(findings, "validation-cost");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("`print_samples` (train.py:4): validation takes longer"), 0u)
      << found->title;
  EXPECT_NE(found->patch.diff.find("-print_samples(...)"), std::string::npos) << found->patch.diff;
}

TEST(StageRules, AShortValidationIsFine) {
  EXPECT_EQ(FindRule(FindingsOfValidations(5 * kMs), "validation-cost"), nullptr);
}

// It compiles the graph of evaluation, or sees that all works; the one later is of the usual
// length.
TEST(StageRules, AValidationBeforeTheFirstStepComesOnce) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  build.Phase(thread, Phase::kValidation, "validate", 10 * kMs, 510 * kMs);
  int64_t t = 520 * kMs;
  for (int step = 0; step < 60; ++step, t += 10 * kMs) {
    build.Module(thread, "Net", "Net", t, t + 3 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", t + 3 * kMs, t + 8 * kMs);
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", t + 8 * kMs,
                t + 10 * kMs);
    if (step != 20 && step != 40) continue;
    build.Phase(thread, Phase::kValidation, "validate", t + 10 * kMs, t + 20 * kMs);
    t += 10 * kMs;
  }
  const Store store = build.Build();
  EXPECT_EQ(FindRule(BuildOverview(store).findings, "validation-cost"), nullptr);
}

// `imports`: they were recorded.
std::vector<Finding> FindingsOfPreprocessing(bool imports) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  if (imports) build.Phase(thread, Phase::kImport, "torch", kMs, 9 * kMs);
  build.Operator(thread, "aten::zeros", 10 * kMs, 11 * kMs);
  int64_t t = 4000 * kMs;
  for (int step = 0; step < 40; ++step, t += 100 * kMs) {
    build.Module(thread, "Net", "Net", t, t + 50 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", t + 50 * kMs, t + 80 * kMs);
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", t + 80 * kMs,
                t + 100 * kMs);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(StageRules, PreprocessingBeforeTheLoopIsPaidByEveryRun) {
  const auto findings = FindingsOfPreprocessing(true);
  const Finding* found = FindRule(findings, "preprocessing-cost");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Preprocessing takes 50 % of the run");
  EXPECT_EQ(found->kind, FindingKind::kOnce);
}

// It may all be the import of torch.
TEST(StageRules, WhatIsNotKnownOfTheStartIsNobodysToChange) {
  const auto findings = FindingsOfPreprocessing(false);
  for (const std::string_view rule : {"set-up-cost", "preprocessing-cost", "start-up"}) {
    EXPECT_EQ(FindRule(findings, rule), nullptr) << rule;
  }
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

// Four epochs of ten updates; between them something of 100 ms, in these functions in turn, if they
// are named.
std::vector<Finding> FindingsBetweenEpochs(bool calls_the_model,
                                           const std::vector<const char*>& called = {}) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  if (!called.empty()) Frame(build, "main", {});
  for (const char* function : called) Frame(build, function, PythonStackId::At(0));
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (int step = 0; step < 10; ++step) {
      build.Operator(thread, "aten::mm", t, t + 4 * kMs);
      build.Phase(thread, Phase::kBackward, "backward", t + 4 * kMs, t + 8 * kMs);
      build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", t + 8 * kMs,
                  t + 10 * kMs);
      t += 10 * kMs;
      if (!called.empty()) Sample(build, thread, t - kMs, 0);
    }
    for (int i = 0; i < 100 && epoch < 4; ++i, t += kMs) {
      if (!called.empty() && i % 5 == 4)
        Sample(build, thread, t, 1 + size_t(i / 5) % called.size());
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

TEST(StageRules, FunctionsThatShareTheTimeBetweenEpochsAreNamed) {
  const auto title = [](const std::vector<const char*>& called) {
    const auto findings = FindingsBetweenEpochs(false, called);
    const Finding* found = FindRule(findings, "between-epochs");
    return found == nullptr ? "" : found->title;
  };
  EXPECT_EQ(title({"plot"}), "`plot` (train.py:4): 44 % of the loop beside its steps");
  EXPECT_EQ(title({"pack", "unpack", "log"}),
            "`pack` (train.py:4) and `unpack` (train.py:4): 44 % of the loop beside its steps");
  EXPECT_EQ(
      title({"a", "b", "c", "d", "e"}),
      "`a` (train.py:4), `b` (train.py:4) and `c` (train.py:4): 44 % of the loop beside its steps");
  EXPECT_EQ(title({"a", "b", "c", "d", "e", "f", "g", "h"}),
            "The program works 44 % of its loop beside its steps")
      << "no few are most of it";
}

TEST(StageRules, WhatLiesBetweenEpochsAndBetweenStepsIsJudgedEach) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    build.Phase(thread, Phase::kDataLoaderInit, "DataLoader.__iter__", t, t + kMs / 10);
    for (int step = 0; step < 20; ++step) {
      build.Module(thread, "Net", "Net", t, t + 3 * kMs);
      build.Phase(thread, Phase::kBackward, "backward", t + 3 * kMs, t + 8 * kMs);
      build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", t + 8 * kMs,
                  t + 10 * kMs);
      t += 10 * kMs;
      if (step != 9) continue;
      build.Phase(thread, Phase::kValidation, "validate", t, t + 10 * kMs);
      t += 160 * kMs;
    }
    t += 100 * kMs;
  }
  const Store store = build.Build();
  std::vector<std::string_view> stages;
  const auto overview = BuildOverview(store);
  for (const Finding& finding : overview.findings) {
    if (finding.rule != "between-epochs") continue;
    stages.push_back(finding.evidence[0].name);
    EXPECT_TRUE(finding.same_time_as.empty());
  }
  std::sort(stages.begin(), stages.end());
  EXPECT_EQ(stages, (std::vector<std::string_view>{"between epochs", "between steps"}));
}

TEST(StageRules, ARunThatStartsAtOnceHasNothingToSetUp) {
  const auto findings = FindingsOfValidations(5 * kMs);
  for (const std::string_view rule :
       {"set-up-cost", "preprocessing-cost", "first-batch", "start-up", "between-epochs"}) {
    EXPECT_EQ(FindRule(findings, rule), nullptr) << rule;
  }
}

// A forward and a backward before the loop, of 5 s together, and 20 steps of 100 ms.
std::vector<Finding> FindingsOfWarmingUp(bool compiles) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 50 * kMs, 50 * kMs);
  build.Phase(thread, Phase::kImport, "torch", 60 * kMs, 100 * kMs);
  if (compiles) build.Phase(thread, Phase::kCompile, "compile", 300 * kMs, 900 * kMs);
  build.Module(thread, "Net", "Net", 200 * kMs, 2000 * kMs);
  build.Phase(thread, Phase::kBackward, "backward", 2000 * kMs, 5200 * kMs);
  build.Phase(thread, Phase::kEvaluationCall, "eval, no_grad", 5200 * kMs, 5300 * kMs);
  int64_t t = 5400 * kMs;
  for (int step = 0; step < 20; ++step, t += 100 * kMs) {
    build.Module(thread, "Net", "Net", t, t + 50 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", t + 50 * kMs, t + 80 * kMs);
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", t + 80 * kMs,
                t + 99 * kMs);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(StageRules, WhatWaitsForCompilersIsNoSetUpThatAFileKeeps) {
  EXPECT_NE(FindRule(FindingsOfWarmingUp(false), "set-up-cost"), nullptr);
  EXPECT_EQ(FindRule(FindingsOfWarmingUp(true), "set-up-cost"), nullptr);
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
