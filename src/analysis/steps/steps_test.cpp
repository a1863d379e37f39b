#include "analysis/steps/steps.h"

#include <gtest/gtest.h>

#include "analysis/steps/step_lookup.h"
#include "analysis/steps/step_range_names.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

constexpr Phase kOptimizerStep = Phase::kOptimizerStep;
constexpr Phase kDataLoaderNext = Phase::kDataLoaderNext;
constexpr Phase kDataLoaderInit = Phase::kDataLoaderInit;
constexpr Phase kBackward = Phase::kBackward;
constexpr Phase kValidation = Phase::kValidation;
constexpr Phase kCompile = Phase::kCompile;

// One iteration of a plain loop in [at, at + 100): data 10, forward 30, backward 40, optimizer 15.
void Iteration(StoreBuilder& build, ThreadId thread, int64_t at, int64_t scale = 1) {
  build.Phase(thread, kDataLoaderNext, "DataLoader", at, at + 10 * scale);
  build.Module(thread, "Net", "Net", at + 12 * scale, at + 40 * scale);
  build.Phase(thread, kBackward, "backward", at + 42 * scale, at + 82 * scale);
  build.Phase(thread, kOptimizerStep, "SGD.step", at + 84 * scale, at + 99 * scale);
}

TEST(Steps, FollowTheRangeOfTheUser) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 6; ++i) {
    build.Range(thread, "train_step", i * 200, i * 200 + 100);
    Iteration(build, thread, i * 200);
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  const ProcessSteps& found = set.processes[0];
  EXPECT_EQ(found.source, StepSource::kNvtxRange);
  EXPECT_EQ(found.marker, "train_step");
  ASSERT_EQ(found.steps.size(), 6u);
  EXPECT_EQ(found.steps[0].start_ns, 0);
  EXPECT_EQ(found.steps[2].start_ns, 300) << "with what lies before its range";
  EXPECT_EQ(found.steps[2].end_ns, 500);
  EXPECT_EQ(found.duration.median, 200);
  EXPECT_EQ(found.between_ns, 0);
  EXPECT_EQ(set.how, "from the end of the NVTX range \"train_step\" to the next");
}

TEST(Steps, NumbersComeFromTheName) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 4; ++i) {
    build.Range(thread, "ProfilerStep#" + std::to_string(i + 7), i * 100, i * 100 + 90);
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].marker, "ProfilerStep#");
  EXPECT_EQ(set.processes[0].steps.front().number, 7);
  EXPECT_EQ(set.processes[0].steps.back().number, 10);
}

TEST(Steps, AnUnknownRangeThatHoldsOneOptimizerStepEachTimeIsAStep) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Range(thread, "epoch_0", 0, 2000);
  for (int i = 0; i < 5; ++i) {
    build.Range(thread, "alpha", i * 150, i * 150 + 110);
    build.Range(thread, "inner", i * 150 + 12, i * 150 + 41);  // holds no optimizer step
    Iteration(build, thread, i * 150);
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].marker, "alpha");
  EXPECT_EQ(set.processes[0].steps.size(), 5u);
}

TEST(Steps, FollowTheOptimizerWhenNoRangeIsThere) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Phase(thread, kDataLoaderInit, "DataLoader", 0, 50);
  for (int i = 0; i < 5; ++i) Iteration(build, thread, 100 + i * 100);
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  const ProcessSteps& found = set.processes[0];
  EXPECT_EQ(found.source, StepSource::kOptimizer);
  ASSERT_EQ(found.steps.size(), 5u);
  EXPECT_EQ(found.steps[0].start_ns, 100) << "opens with its data loading";
  EXPECT_EQ(found.steps[0].end_ns, 199);
  EXPECT_EQ(found.steps[1].start_ns, 199);
  EXPECT_EQ(found.steps[4].end_ns, 599);
}

TEST(Steps, TheRangesOfTheExampleAreEnough) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Range(thread, "dataloader_setup", 0, 80);
  build.Range(thread, "epoch_0", 90, 1000);
  for (int i = 0; i < 4; ++i) {
    const int64_t at = 100 + i * 100;
    build.Range(thread, "batch_to_device", at, at + 5);
    build.Range(thread, "forward", at + 5, at + 40);
    build.Range(thread, "backward", at + 40, at + 80);
    build.Range(thread, "optimizer_step", at + 80, at + 95);
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].source, StepSource::kOptimizer);
  EXPECT_EQ(set.processes[0].marker, "optimizer_step");
  EXPECT_EQ(set.processes[0].steps.size(), 4u);
}

TEST(Steps, GradientAccumulationHasOneStepForSeveralBatches) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  int64_t at = 0;
  for (int step = 0; step < 3; ++step) {
    for (int micro = 0; micro < 4; ++micro, at += 50) {
      build.Phase(thread, kDataLoaderNext, "DataLoader", at, at + 5);
      build.Phase(thread, kBackward, "backward", at + 10, at + 40);
    }
    build.Phase(thread, kOptimizerStep, "Adam.step", at, at + 20);
    at += 20;
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  ASSERT_EQ(set.processes[0].steps.size(), 3u);
  EXPECT_EQ(set.processes[0].steps[0].start_ns, 0) << "all four batches belong to the first step";
  EXPECT_EQ(set.processes[0].steps[0].end_ns, 220);
}

TEST(Steps, TheLastOfTwoOptimizersEndsAStep) {
  for (const char* second : {"Adam.step", "SGD.step"}) {
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(1, "gan.py"));
    for (int i = 0; i < 4; ++i) {
      const int64_t at = i * 100;
      build.Phase(thread, kDataLoaderNext, "DataLoader", at, at + 5);
      build.Phase(thread, kOptimizerStep, "Adam.step", at + 40, at + 45);
      build.Phase(thread, kOptimizerStep, second, at + 90, at + 95);
    }
    build.Phase(thread, kDataLoaderNext, "DataLoader", 400, 405);
    const Store store = build.Build();
    const StepSet set = FindSteps(store);
    ASSERT_EQ(set.processes.size(), 1u) << second;
    ASSERT_EQ(set.processes[0].steps.size(), 4u) << second;
    EXPECT_EQ(set.processes[0].steps[1].end_ns, 195) << second;
  }
}

TEST(Steps, AGradientScalerIsPartOfTheOptimizerStep) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "amp.py"));
  constexpr Phase kScaler = Phase::kGradScaler;
  for (int i = 0; i < 4; ++i) {
    const int64_t at = i * 100;
    build.Phase(thread, kDataLoaderNext, "DataLoader", at, at + 5);
    build.Phase(thread, kScaler, "GradScaler.step", at + 80, at + 90);
    // An infinite gradient leaves out the optimizer's step; the step ends nevertheless.
    if (i != 2) build.Phase(thread, kOptimizerStep, "Optimizer.step#AdamW.step", at + 82, at + 89);
    build.Phase(thread, kScaler, "GradScaler.update", at + 91, at + 95);
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].steps.size(), 4u);
  EXPECT_EQ(set.processes[0].steps[0].end_ns, 90);
  EXPECT_EQ(set.processes[0].marker, "AdamW.step");
}

TEST(Steps, FollowTheDataLoaderOfALoopThatReplaysItsStep) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 3; ++i) Iteration(build, thread, i * 1000, 10);  // warm-up and capture
  for (int i = 0; i < 10; ++i) {
    build.Phase(thread, kDataLoaderNext, "DataLoader", 4000 + i * 100, 4010 + i * 100);
    build.ApiCall(thread, "cudaGraphLaunch_v10000", 4020 + i * 100, 4030 + i * 100);
  }
  const Store replayed = build.Build();
  const StepSet set = FindSteps(replayed);
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].source, StepSource::kDataLoader);
  EXPECT_EQ(set.processes[0].duration.median, 100);
}

TEST(Steps, BatchesOfAValidationAmongReplaysAreNoSteps) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 3; ++i) Iteration(build, thread, i * 1000, 10);  // warm-up and capture
  int64_t at = 4000;
  for (int i = 0; i < 20; ++i, at += 100) {
    build.Phase(thread, kDataLoaderNext, "DataLoader", at, at + 10);
    const bool validates = i >= 10 && i < 15;
    if (!validates) build.ApiCall(thread, "cudaGraphLaunch_v10000", at + 20, at + 30);
  }
  const Store store = build.Build();
  const ProcessSteps found = FindSteps(store).processes.at(0);
  EXPECT_EQ(found.source, StepSource::kDataLoader);
  EXPECT_EQ(found.steps.size(), 17u) << "the last batch has no end";
}

// Eager warm-up, capture, then replays, as torch.cuda.CUDAGraph's documentation has it.
void WarmUpCaptureReplay(StoreBuilder& build, ThreadId thread, bool loader) {
  const auto next = [&](int64_t at) {
    if (loader) build.Phase(thread, kDataLoaderNext, "DataLoader", at, at + 10);
  };
  for (int i = 0; i < 2; ++i) {  // as long as the replays: only the capture tells
    next(i * 100);
    build.Phase(thread, kOptimizerStep, "SGD.step", i * 100 + 50, i * 100 + 60);
  }
  next(200);
  build.ApiCall(thread, "cudaStreamBeginCapture_v10000", 220, 221);
  build.Phase(thread, kOptimizerStep, "SGD.step", 230, 240);
  build.ApiCall(thread, "cudaStreamEndCapture_v10000", 260, 261);
  build.ApiCall(thread, "cudaGraphInstantiateWithFlags_v11040", 262, 290);
  for (int i = 3; i < 13; ++i) {
    next(i * 100);
    build.ApiCall(thread, "cudaGraphLaunch_v10000", i * 100 + 20, i * 100 + 30);
    build.ApiCall(thread, "cuGraphLaunch", i * 100 + 22, i * 100 + 28);  // inside of the runtime's
  }
  next(1300);
}

TEST(Steps, SetWarmUpAndCaptureOfAGraphApart) {
  StoreBuilder build;
  WarmUpCaptureReplay(build, build.Thread(build.Process(1, "train.py")), true);
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  const ProcessSteps& found = set.processes[0];
  EXPECT_EQ(found.source, StepSource::kDataLoader);
  ASSERT_EQ(found.steps.size(), 13u);
  EXPECT_EQ(found.steps[0].kind, StepKind::kWarmUp);
  EXPECT_EQ(found.steps[1].kind, StepKind::kWarmUp);
  EXPECT_EQ(found.steps[2].kind, StepKind::kGraphCapture);
  EXPECT_EQ(StepKindName(found.steps[2].kind), "graph capture");
  EXPECT_EQ(found.steady.size(), 10u);
}

TEST(Steps, FollowTheReplaysWhereNothingElseIsThere) {
  StoreBuilder build;
  WarmUpCaptureReplay(build, build.Thread(build.Process(1, "train.py")), false);
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].source, StepSource::kGraphReplay);
  ASSERT_EQ(set.processes[0].steps.size(), 10u) << "one ends with each replay";
  EXPECT_EQ(set.processes[0].steps[0].start_ns, 50);
  EXPECT_EQ(set.processes[0].steps[0].kind, StepKind::kGraphCapture);
  EXPECT_EQ(set.processes[0].duration.median, 100);
}

TEST(Steps, AGraphCapturedLateLeavesTheStepsBeforeIt) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 20; ++i) {
    Iteration(build, thread, i * 100);
    if (i == 15) build.ApiCall(thread, "cudaGraphInstantiate_v12000", i * 100 + 50, i * 100 + 60);
    if (i > 15) build.ApiCall(thread, "cudaGraphLaunch_v10000", i * 100 + 50, i * 100 + 60);
  }
  const Store store = build.Build();
  const ProcessSteps found = FindSteps(store).processes.at(0);
  EXPECT_EQ(found.steps[15].kind, StepKind::kGraphCapture);
  EXPECT_EQ(found.steps[3].kind, StepKind::kSteady);
}

TEST(Steps, AValidationAfterTrainingIsNoReplay) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 3; ++i) Iteration(build, thread, i * 1000, 10);
  for (int i = 0; i < 10; ++i) {
    build.Phase(thread, kDataLoaderNext, "DataLoader", 4000 + i * 100, 4010 + i * 100);
  }
  const Store store = build.Build();
  EXPECT_EQ(FindSteps(store).processes[0].source, StepSource::kOptimizer);
}

TEST(Steps, FollowTheDataLoaderOfALoopWithoutOptimizer) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "infer.py"));
  for (int epoch = 0; epoch < 2; ++epoch) {
    const int64_t at = epoch * 1000;
    build.Phase(thread, kDataLoaderInit, "DataLoader", at, at + 10);
    for (int i = 0; i <= 3; ++i) {  // the last next ends the epoch
      build.Phase(thread, kDataLoaderNext, "DataLoader", at + 20 + i * 100, at + 30 + i * 100);
    }
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].source, StepSource::kDataLoader);
  EXPECT_EQ(set.processes[0].steps.size(), 6u) << "the time between two epochs is no step";
}

TEST(Steps, OfOneRank) {
  StoreBuilder build;
  for (int rank = 0; rank < 3; ++rank) {
    const ThreadId thread = build.Thread(build.Process(1 + rank, "train.py", rank));
    for (int i = 0; i < 5; ++i) Iteration(build, thread, i * 100 * (rank + 1), rank + 1);
  }
  const Store store = build.Build();
  EXPECT_EQ(FindSteps(store).processes.size(), 3u);
  const StepSet one = FindSteps(store, {.rank = 1});
  ASSERT_EQ(one.processes.size(), 1u);
  EXPECT_EQ(one.processes[0].rank, 1);
  const StepSet none = FindSteps(store, {.rank = 7});
  EXPECT_EQ(none.processes.size(), 3u);
  EXPECT_EQ(none.problem, "no training process has rank 7; the run has 0, 1, 2");
}

TEST(Steps, FindThePeriodOfKernels) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "engine"));
  int64_t at = 0;
  for (int step = 0; step < 6; ++step) {
    at += 500;  // the pause between steps
    for (int layer = 0; layer < 12; ++layer) {
      for (const char* name : {"gemm", "softmax", "add"}) {
        build.Kernel(thread, name, at - 1, at, at + 10);
        at += 12;
      }
    }
    build.Kernel(thread, "argmax", at - 1, at, at + 10);
    at += 12;
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  const ProcessSteps& found = set.processes[0];
  EXPECT_EQ(found.source, StepSource::kKernelPeriod);
  ASSERT_GE(found.steps.size(), 4u);
  EXPECT_EQ(found.steps[0].duration_ns(), 500 + 37 * 12);
  EXPECT_EQ(found.steps[0].start_ns % (500 + 37 * 12), 500) << "cut at the pause";
}

TEST(Steps, FindThePeriodOfOperators) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "loop.py"));
  int64_t at = 0;
  for (int step = 0; step < 5; ++step, at += 100) {
    for (const char* name : {"aten::embedding", "aten::linear", "aten::relu", "aten::linear"}) {
      build.Operator(thread, name, at, at + 8);
      at += 10;
    }
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].source, StepSource::kOperatorPeriod);
  EXPECT_EQ(set.processes[0].steps.size(), 4u);
  EXPECT_EQ(set.processes[0].steps[0].duration_ns(), 140);
}

TEST(Steps, SayWhyThereAreNone) {
  const Store empty;
  EXPECT_TRUE(FindSteps(empty).processes.empty());
  EXPECT_NE(FindSteps(empty).how.find("holds no ranges"), std::string::npos);
  StoreBuilder build;
  build.Range(build.Thread(build.Process(1, "a.py")), "load", 0, 5);
  const Store store = build.Build();
  EXPECT_TRUE(FindSteps(store).processes.empty());
  EXPECT_NE(FindSteps(store).how.find("nothing repeats"), std::string::npos);
}

TEST(Steps, OneStepIsAStep) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  Iteration(build, thread, 0);
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].steps.size(), 1u);
  EXPECT_EQ(set.processes[0].steady.size(), 1u);
}

TEST(Steps, AreSetApartByName) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  int64_t at = 0;
  for (int i = 0; i < 12; ++i) {
    if (i == 6) {
      build.Phase(thread, kValidation, "validate", at, at + 500);
      at += 500;
    }
    const int64_t scale = i == 1 ? 3 : i == 9 ? 2 : 1;
    if (i == 0) build.Phase(thread, kCompile, "torch.compile", at + 13, at + 30);
    Iteration(build, thread, at, scale);
    at += 100 * scale;
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  const ProcessSteps& found = set.processes[0];
  ASSERT_EQ(found.steps.size(), 12u);
  EXPECT_EQ(found.steps[0].kind, StepKind::kCompile);
  EXPECT_EQ(found.steps[1].kind, StepKind::kWarmUp);
  EXPECT_EQ(found.steps[2].kind, StepKind::kSteady);
  EXPECT_EQ(found.steps[6].kind, StepKind::kSteady);
  EXPECT_GE(found.steps[6].start_ns - found.steps[5].end_ns, 500) << "the validation";
  EXPECT_TRUE(found.steps[9].outlier);
  EXPECT_EQ(found.outlier_count, 1u);
  EXPECT_EQ(found.steady.size(), 10u);
  EXPECT_EQ(found.duration.median, 100);
  StepLookup lookup(&found);
  EXPECT_TRUE(lookup.IsSteadyAt(found.steps[3].start_ns));
  EXPECT_FALSE(lookup.IsSteadyAt(found.steps[5].end_ns + 1));
  EXPECT_FALSE(lookup.IsSteadyAt(-5));
}

TEST(Steps, TrainingProcessesAreThoseThatTrain) {
  StoreBuilder build;
  const ProcessId launcher = build.Process(1, "torchrun");
  const ProcessId second = build.Process(3, "train.py", 1);
  const ProcessId first = build.Process(2, "train.py", 0);
  const ProcessId worker = build.Process(4, "train.py");
  const ThreadId idle = build.Thread(launcher);
  build.Range(idle, "wait", 0, 900);
  for (const ProcessId process : {second, first}) {
    const ThreadId thread = build.Thread(process);
    for (int i = 0; i < 4; ++i) Iteration(build, thread, i * 100);
  }
  const ThreadId loading = build.Thread(worker);
  for (int i = 0; i < 40; ++i) build.Operator(loading, "aten::stack", i * 10, i * 10 + 8);
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 2u);
  EXPECT_EQ(set.processes[0].process, first);
  EXPECT_EQ(set.processes[1].process, second);
  EXPECT_EQ(set.Of(worker), nullptr);
}

TEST(Steps, FollowAKeyAndKeepToARange) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 6; ++i) {
    Iteration(build, thread, i * 100);
    build.Range(thread, "global_clock", i * 100 + 99, i * 100 + 100);
  }
  const Store store = build.Build();
  StepSet set = FindSteps(store, {.key = "global_clock", .first_step = 2, .last_step = 4});
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].steps[1].end_ns, 200);
  EXPECT_EQ(set.processes[0].steps[1].kind, StepKind::kExcluded);
  EXPECT_EQ(set.processes[0].steady, (std::vector<uint32_t>{2, 3, 4}));
  set = FindSteps(store, {.key = "global_clok"});
  EXPECT_NE(set.problem.find("did you mean global_clock"), std::string::npos) << set.problem;
  ASSERT_EQ(set.processes.size(), 1u) << "found without the key";
  // As the summary calls it: without what PyTorch puts before an optimizer's step.
  StoreBuilder optimizer;
  const ThreadId other = optimizer.Thread(optimizer.Process(1, "train.py"));
  for (int i = 0; i < 6; ++i) {
    optimizer.Phase(other, kOptimizerStep, "Optimizer.step#AdamW.step", i * 100, i * 100 + 90);
  }
  const Store adam = optimizer.Build();
  const std::string problem = FindSteps(adam, {.key = "AdamW.stp"}).problem;
  EXPECT_NE(problem.find("did you mean AdamW.step?"), std::string::npos) << problem;
  set = FindSteps(store, {.key = "zzzzzz"});
  EXPECT_NE(set.problem.find("most frequent names are"), std::string::npos) << set.problem;
  set = FindSteps(store, {.first_step = 50});
  EXPECT_NE(set.problem.find("steps 0 to 5, none from 50"), std::string::npos) << set.problem;
  EXPECT_EQ(set.processes[0].duration.count, 6u);
}

// A capture that counts steps stops at the end of the optimizer's, inside the scaler's.
TEST(Steps, ACallThatACaptureCutsEndsWithIt) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "amp.py"));
  constexpr Phase kScaler = Phase::kGradScaler;
  for (const int64_t window : {0, 5000}) {
    build.store().capture_windows.Append({.start_ns = window, .end_ns = window + 289});
    for (int i = 0; i < 3; ++i) {
      const int64_t at = window + i * 100;
      build.Phase(thread, kDataLoaderNext, "DataLoader", at, at + 5);
      build.Phase(thread, kScaler, "GradScaler.step", at + 80, i == 2 ? kOpenEnd : at + 90);
      build.Phase(thread, kOptimizerStep, "Optimizer.step#AdamW.step", at + 82, at + 88);
      if (i < 2) build.Phase(thread, kScaler, "GradScaler.update", at + 91, at + 95);
    }
  }
  build.store().duration_ns = 9000;
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  ASSERT_EQ(set.processes[0].steps.size(), 5u);
  for (const Step& step : set.processes[0].steps) EXPECT_LE(step.duration_ns(), 100);
}

TEST(Steps, TheTimeBetweenTwoCapturesIsNoStep) {
  for (const int64_t end_ns : {int64_t{5400}, kOpenEnd}) {  // of a run that goes on
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(1, "train.py"));
    build.store().capture_windows.Append({.start_ns = 0, .end_ns = 400});
    build.store().capture_windows.Append({.start_ns = 5000, .end_ns = end_ns});
    for (const int64_t window : {0, 5000}) {
      for (int i = 0; i < 4; ++i) Iteration(build, thread, window + i * 100);
    }
    build.store().duration_ns = 5400;
    const Store store = build.Build();
    const StepSet set = FindSteps(store);
    ASSERT_EQ(set.processes.size(), 1u);
    ASSERT_EQ(set.processes[0].steps.size(), 7u);
    for (const Step& step : set.processes[0].steps) EXPECT_LE(step.duration_ns(), 100);
  }
}

// --every and --steps: the program itself opens a window where a step ends and the next begins.
TEST(Steps, AStepThatBeginsWithItsWindowIsWhole) {
  StoreBuilder build;
  const ProcessId process = build.Process(1, "train.py");
  const ThreadId thread = build.Thread(process);
  build.Property("session.step_windows", "every 50, 4 each");
  for (const int64_t window : {1000, 6000}) {
    build.store().capture_windows.Append({.start_ns = window - 1, .end_ns = window + 399});
    for (int i = 0; i < 4; ++i) Iteration(build, thread, window + i * 100);
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  ASSERT_EQ(set.processes[0].steps.size(), 8u);
  EXPECT_EQ(set.processes[0].steps[0].start_ns, 999);
  EXPECT_EQ(set.processes[0].steps[4].start_ns, 5999);
  for (const Step& step : set.processes[0].steps) EXPECT_EQ(step.duration_ns(), 100);
  const StepSet by_key = FindSteps(store, {.key = "SGD.step"});
  ASSERT_EQ(by_key.processes.size(), 1u);
  EXPECT_EQ(by_key.processes[0].steps.size(), 8u);
}

// While a program runs nobody knows yet what repeats.
TEST(Steps, WindowsThatCountedTheOptimizersOfAnIterationSaySo) {
  const auto how = [](const char* range) {
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(1, "gan.py"));
    build.Property("session.step_windows", "window.first=1\nwindow.last=16\n");
    if (*range != '\0') build.Property("session.step_range", range);
    for (int64_t at = 0; at < 800; at += 100) {
      for (const char* name : {"Optimizer.step#Adam.step", "Optimizer.step#Adam.step#2"}) {
        const int64_t from = at + (name[24] == '\0' ? 0 : 50);
        build.Phase(thread, kBackward, "Tensor.backward", from + 10, from + 30);
        build.Phase(thread, kOptimizerStep, name, from + 30, from + 49);
      }
    }
    const Store store = build.Build();
    return FindSteps(store).how;
  };
  EXPECT_NE(how("").find("counted optimizer steps, about 2 to each"), std::string::npos) << how("");
  EXPECT_EQ(how("iteration").find("counted"), std::string::npos);
}

// The window follows the steps of one process; another may still be in its optimizer then.
TEST(Steps, AWindowThatOpensLateInAStepMakesNone) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(2, "train.py, rank 1"));
  build.Property("session.step_windows", "every 50, 2 each");
  for (const int64_t window : {1000, 6000}) {
    build.store().capture_windows.Append({.start_ns = window - 20, .end_ns = window + 180});
    build.Phase(thread, kOptimizerStep, "SGD.step", window - 10, window - 1);
    for (int i = 0; i < 2; ++i) Iteration(build, thread, window + i * 100);
  }
  const Store store = build.Build();
  const StepSet set = FindSteps(store);
  ASSERT_EQ(set.processes.size(), 1u);
  ASSERT_EQ(set.processes[0].steps.size(), 4u);
  for (const Step& step : set.processes[0].steps) EXPECT_EQ(step.duration_ns(), 100);
}

TEST(Steps, NestedRangesOfOneNameCountOnce) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 4; ++i) {
    build.Range(thread, "step", i * 100, i * 100 + 90);
    build.Range(thread, "step", i * 100 + 10, i * 100 + 20);
  }
  const Store store = build.Build();
  EXPECT_EQ(FindSteps(store).processes[0].steps.size(), 4u);
}

TEST(StepNames, AreSplitFromTheirNumbers) {
  EXPECT_EQ(SplitRangeName("ProfilerStep#12").base, "profilerstep_#");
  EXPECT_EQ(SplitRangeName("ProfilerStep#12").number, 12);
  EXPECT_EQ(SplitRangeName("Step 3/100").number, 3);
  EXPECT_EQ(SplitRangeName("epoch 1 step 20").number, 20);
  EXPECT_EQ(SplitRangeName("step").number, -1);
  EXPECT_TRUE(IsStepRangeName(SplitRangeName("train-step 5").base));
  EXPECT_TRUE(IsStepRangeName(SplitRangeName("epoch 1 batch 20").base));
  EXPECT_FALSE(IsStepRangeName(SplitRangeName("optimizer_step").base));
  EXPECT_FALSE(IsStepRangeName(SplitRangeName("batch_to_device").base));
}

}  // namespace
}  // namespace batchlight
