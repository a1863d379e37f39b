// Loops as people write them: how many iterations are found, and what belongs to one.
#include <gtest/gtest.h>

#include "analysis/steps/steps.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

constexpr const char* kAdam = "Optimizer.step#Adam.step";
constexpr const char* kSecondAdam = "Optimizer.step#Adam.step#2";

// A loop in a process of one thread; `at` is the clock.
struct Loop {
  StoreBuilder build;
  ThreadId thread = build.Thread(build.Process(1, "train.py"));
  int64_t at = 0;

  void Pass(int64_t ns) { at += ns; }
  void Range(const char* name, int64_t ns) {
    build.Range(thread, name, at, at + ns);
    at += ns;
  }
  void Phase(batchlight::Phase phase, const char* name, int64_t ns) {
    build.Phase(thread, phase, name, at, at + ns);
    at += ns;
  }
  void Load(int64_t ns = 10) { Phase(Phase::kDataLoaderNext, "DataLoader", ns); }
  void NewLoader(int64_t ns = 5) { Phase(Phase::kDataLoaderInit, "DataLoader", ns); }
  void Forward(const char* model = "Net", int64_t ns = 20) {
    build.Module(thread, model, model, at, at + ns);
    at += ns;
  }
  void Backward(int64_t ns = 30) { Phase(Phase::kBackward, "torch.autograd.backward", ns); }
  void Update(const char* optimizer = kAdam, int64_t ns = 10) {
    Phase(Phase::kOptimizerStep, optimizer, ns);
  }
  void Train(const char* model, const char* optimizer) {
    Forward(model);
    Backward();
    Update(optimizer);
  }
  ProcessSteps Found() {
    const Store store = build.Build();
    const StepSet set = FindSteps(store);
    how = set.how;
    EXPECT_EQ(set.processes.size(), 1u);
    return set.processes.empty() ? ProcessSteps() : set.processes[0];
  }
  std::string how;
};

TEST(LoopShapes, LoadingBeforeARangeOfTheUserBelongsToItsIteration) {
  Loop loop;
  loop.NewLoader();
  for (int i = 0; i < 6; ++i) {
    loop.Load(270);
    loop.build.Range(loop.thread, "Batch", loop.at, loop.at + 60);
    loop.Train("Net", kAdam);
    loop.Pass(5);  // logging
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 6u);
  EXPECT_EQ(found.steps[0].start_ns, 5) << "with its batch";
  EXPECT_EQ(found.steps[1].start_ns, found.steps[0].end_ns);
  EXPECT_EQ(found.duration.median, 335);
  EXPECT_EQ(found.between_ns, 0);
  EXPECT_EQ(loop.how, "from the end of the NVTX range \"Batch\" to the next");
}

TEST(LoopShapes, ARangeBehindAGapInCollectingIsWhole) {
  Loop loop;
  for (const int64_t window : {0, 5000}) {
    loop.at = window;
    for (int i = 0; i < 3; ++i) {
      loop.Pass(10);
      loop.build.Range(loop.thread, "step", loop.at, loop.at + 60);
      loop.Train("Net", kAdam);
    }
    loop.build.store().capture_windows.Append({.start_ns = window, .end_ns = loop.at});
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 6u);
  EXPECT_EQ(found.steps[3].start_ns, 5000);
  EXPECT_EQ(found.steps[3].end_ns, 5070);
}

TEST(LoopShapes, ARangeItselfWhereTheUserSaysSo) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 4; ++i) build.Range(thread, "work", i * 100, i * 100 + 30);
  const Store store = build.Build();
  const StepSet set = FindSteps(store, {.range = "work"});
  ASSERT_EQ(set.processes.size(), 1u);
  EXPECT_EQ(set.processes[0].duration.median, 30);
  EXPECT_EQ(set.how, "the range \"work\" itself, as --step-range says");
  EXPECT_NE(FindSteps(store, {.range = "wrk"}).problem.find("did you mean work"),
            std::string::npos);
}

TEST(LoopShapes, AnActorInEverySecondIterationMakesNoLongerOnes) {
  for (const bool in_one_loop : {true, false}) {
    Loop loop;
    const auto say = [&](const char* name, const char* loops) {
      loop.build.Property(std::string("optimizer.loops.") + name, loops);
    };
    say(kAdam, in_one_loop ? "td3.py:9" : "td3.py:9 td3.py:12");
    say(kSecondAdam, "td3.py:9");
    for (int i = 0; i < 20; ++i) {
      loop.Train("Critic", kAdam);
      if (i % 2 == 1) loop.Train("Actor", kSecondAdam);
    }
    EXPECT_EQ(loop.Found().steps.size(), in_one_loop ? 20u : 10u) << loop.how;
  }
}

TEST(LoopShapes, ValidationAndCheckpointBetweenIterationsBelongToNone) {
  Loop loop;
  for (int i = 0; i < 12; ++i) {
    loop.Pass(4);
    loop.Train("Net", kAdam);
    if (i % 4 == 3) loop.Phase(Phase::kValidation, "validate", 500);
    if (i % 4 == 3) loop.Phase(Phase::kCheckpoint, "torch.save", 300);
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 12u);
  for (const Step& step : found.steps) {
    EXPECT_EQ(step.kind, StepKind::kSteady);
    EXPECT_LE(step.duration_ns(), 64);
  }
  EXPECT_EQ(found.steps[4].duration_ns(), 64) << "opens as long before its forward as others do";
  EXPECT_GE(found.steps[4].start_ns - found.steps[3].end_ns, 800) << "they belong to no step";
}

// A graph or table that is trained as a whole: an epoch is one update, and validates.
TEST(LoopShapes, AValidationInEveryIterationIsAPartOfIt) {
  Loop loop;
  for (int i = 0; i < 12; ++i) {
    loop.Train("Net", kAdam);
    loop.Pass(40);  // reads the loss
    loop.Phase(Phase::kValidation, "validate", 100);
    loop.Pass(10);
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 12u);
  for (size_t i = 1; i < found.steps.size(); ++i) {
    EXPECT_EQ(found.steps[i].kind, StepKind::kSteady);
    EXPECT_EQ(found.steps[i].start_ns, found.steps[i - 1].end_ns);
    EXPECT_EQ(found.steps[i].duration_ns(), found.duration.median);
  }
  EXPECT_GE(found.duration.median, 150);
}

TEST(LoopShapes, WhatLiesBetweenEpochsBelongsToNoIteration) {
  Loop loop;
  for (int epoch = 0; epoch < 3; ++epoch) {
    loop.NewLoader();
    for (int i = 0; i < 5; ++i) {
      loop.Load();
      loop.Train("Net", kAdam);
      loop.Pass(3);
    }
    loop.Load(1);      // in vain: the epoch is over
    loop.Pass(40000);  // plots
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 15u);
  for (const Step& step : found.steps) EXPECT_LE(step.duration_ns(), 75);
  EXPECT_EQ(found.steady.size(), 15u) << "an epoch's first step that is as quick counts";
}

TEST(LoopShapes, ASampleReadWithTorchLoadIsNoCheckpoint) {
  Loop loop;
  for (int i = 0; i < 6; ++i) {
    loop.build.Phase(loop.thread, Phase::kDataLoaderNext, "DataLoader", loop.at, loop.at + 50);
    loop.build.Phase(loop.thread, Phase::kCheckpoint, "torch.load", loop.at + 5, loop.at + 45);
    loop.Pass(50);
    loop.Phase(Phase::kCheckpoint, "torch.load", 20);
    loop.Train("Net", kAdam);
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 6u);
  EXPECT_EQ(found.duration.median, 130);
  EXPECT_EQ(found.steady.size(), 6u);
  EXPECT_EQ(found.steps[3].start_ns, found.steps[2].end_ns);
}

TEST(LoopShapes, ALoaderAskedForInEveryIterationBeginsNoEpoch) {
  Loop loop;
  for (int i = 0; i < 8; ++i) {
    loop.NewLoader();
    loop.Load();
    loop.Train("Net", kAdam);
    loop.Pass(35);  // logging
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 8u);
  EXPECT_EQ(found.duration.median, 110);
  EXPECT_EQ(found.steady.size(), 8u);
}

TEST(LoopShapes, GanWithoutDataLoader) {
  Loop loop;
  for (int i = 0; i < 10; ++i) {
    loop.Pass(6);
    loop.Forward("G");
    loop.Train("D", kAdam);
    loop.Forward("G");
    loop.Train("D", kSecondAdam);
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 10u);
  EXPECT_EQ(found.duration.median, 166);
  EXPECT_EQ(found.marker, "Adam.step#2");
  EXPECT_EQ(loop.how,
            "from the end of \"Adam.step#2\" to the next; an iteration is 2 optimizer steps: "
            "\"Adam.step\", \"Adam.step#2\"");
}

TEST(LoopShapes, GanWithDataLoader) {
  Loop loop;
  loop.NewLoader();
  for (int i = 0; i < 10; ++i) {
    loop.Load();
    loop.Train("D", kAdam);
    if (i % 3 != 0) loop.Train("D", kSecondAdam);
  }
  const ProcessSteps found = loop.Found();
  EXPECT_EQ(found.steps.size(), 10u) << "a batch is an iteration";
  EXPECT_NE(loop.how.find("one for each batch"), std::string::npos) << loop.how;
}

// The critic asks for its batches itself: next(batches), five times an iteration.
TEST(LoopShapes, AnInnerLoopThatAsksForItsBatchesIsOneIteration) {
  Loop loop;
  loop.NewLoader();
  for (int i = 0; i < 8; ++i) {
    for (int critic = 0; critic < 5; ++critic) {
      if (i == 4 && critic == 2) loop.NewLoader();  // the data set begins again
      loop.Load();
      loop.Train("D", kAdam);
    }
    loop.Train("G", kSecondAdam);
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 8u) << loop.how;
  EXPECT_EQ(found.duration.median, 5 * 70 + 60);
}

TEST(LoopShapes, ABatchIsAnIterationWhereAnOptimizerStepsEveryFifth) {
  Loop loop;
  for (int epoch = 0; epoch < 2; ++epoch) {
    loop.NewLoader();
    for (int i = 0; i < 22; ++i) {
      loop.Load();
      loop.Train("D", kAdam);
      if (i % 5 == 0) loop.Train("G", kSecondAdam);
    }
    loop.Load(1);
  }
  EXPECT_EQ(loop.Found().steps.size(), 44u) << loop.how;
}

TEST(LoopShapes, TwoOptimizersAfterOneBackwardAreOneUpdate) {
  Loop loop;
  for (int i = 0; i < 10; ++i) {
    loop.Train("Net", kAdam);
    loop.Update(kSecondAdam);
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 10u);
  EXPECT_EQ(found.duration.median, 70);
}

TEST(LoopShapes, OptimizersThatStepInsideTheBackwardEndWithIt) {
  Loop loop;
  for (int i = 0; i < 6; ++i) {
    loop.Forward();
    for (int layer = 0; layer < 4; ++layer) {
      loop.build.Phase(loop.thread, Phase::kOptimizerStep, layer == 0 ? kAdam : kSecondAdam,
                       loop.at + 5 * layer, loop.at + 5 * layer + 3);
    }
    loop.Backward();
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 6u);
  EXPECT_EQ(found.steps[0].end_ns, 50);
}

TEST(LoopShapes, ACallThatOnlyWarmsTheOptimizerUpIsNoStep) {
  Loop loop;
  loop.Update();
  loop.Pass(5000);
  for (int i = 0; i < 5; ++i) loop.Train("Net", kAdam);
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 5u);
  EXPECT_EQ(found.steps[0].start_ns, 5010);
}

TEST(LoopShapes, FoldsHaveWhatLiesBetweenInNoStep) {
  Loop loop;
  for (int fold = 0; fold < 4; ++fold) {
    const std::string optimizer = kAdam + (fold == 0 ? "" : "#" + std::to_string(fold + 1));
    for (int i = 0; i < 6; ++i) {
      loop.Pass(2);
      loop.Train("Net", optimizer.c_str());
    }
    loop.Pass(9000);  // a new model
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 24u);
  for (const Step& step : found.steps) EXPECT_LE(step.duration_ns(), 62);
}

TEST(LoopShapes, AccumulationSaysHowManyMicroBatches) {
  for (const bool loads : {true, false}) {
    Loop loop;
    for (int i = 0; i < 5; ++i) {
      for (int micro = 0; micro < 4; ++micro) {
        if (loads) loop.Load();
        loop.Forward();
        loop.Backward();
      }
      loop.Update();
    }
    const ProcessSteps found = loop.Found();
    ASSERT_EQ(found.steps.size(), 5u);
    EXPECT_EQ(found.micro_batches, 4u);
    EXPECT_EQ(found.steps[0].start_ns, 0);
    EXPECT_EQ(loop.how, "from the end of \"Adam.step\" to the next; 4 micro-batches each");
  }
}

TEST(LoopShapes, AClosureThatRunsOftenIsOneStep) {
  Loop loop;
  for (int i = 0; i < 6; ++i) {
    const int64_t start = loop.at;
    for (int evaluation = 0; evaluation < 5 + (i == 0); ++evaluation) {
      loop.Forward();
      loop.Backward();
    }
    loop.build.Phase(loop.thread, Phase::kOptimizerStep, "Optimizer.step#LBFGS.step", start,
                     loop.at);
    loop.Pass(2);
  }
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 6u);
  EXPECT_EQ(found.micro_batches, 1u);
  EXPECT_EQ(found.steps[0].start_ns, 0);
}

TEST(LoopShapes, UpdatesByHandGoFromOneBackwardToTheNext) {
  Loop loop;
  for (int i = 0; i < 80; ++i) {
    int64_t sequence = 2 * i;  // of the data nothing is numbered
    for (const char* name : {"aten::slice", "aten::linear", "aten::relu"}) {
      loop.build.Operator(loop.thread, name, loop.at, loop.at + 4, sequence);
      sequence += name == std::string_view("aten::linear");
      loop.Pass(5);
    }
    loop.Backward();
    loop.build.Operator(loop.thread, "aten::sub_", loop.at, loop.at + 4);
    loop.Pass(5);
  }
  const ProcessSteps found = loop.Found();
  EXPECT_EQ(found.source, StepSource::kBackward);
  ASSERT_EQ(found.steps.size(), 80u);
  EXPECT_EQ(found.duration.median, 50);
  EXPECT_EQ(found.steps[0].start_ns, 5) << "with its forward";
}

TEST(LoopShapes, ARequestIsAStepWhereNothingIsTrained) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.Pass(3);
    loop.Forward("Ranker", 40);
    loop.Pass(7);
  }
  const ProcessSteps found = loop.Found();
  EXPECT_EQ(found.source, StepSource::kRequest);
  ASSERT_EQ(found.steps.size(), 30u);
  EXPECT_EQ(found.duration.median, 50);
}

TEST(LoopShapes, CallsInBurstsAreOneRequest) {
  Loop loop;  // ten views of each picture
  for (int i = 0; i < 20; ++i) {
    loop.Pass(30);
    for (int view = 0; view < 10; ++view) {
      loop.Forward("Scorer", 10);
      loop.Pass(view % 3 + 1);
    }
  }
  const ProcessSteps found = loop.Found();
  EXPECT_EQ(found.source, StepSource::kRequest);
  EXPECT_EQ(found.steps.size(), 20u);
}

TEST(LoopShapes, CallsOfAnyNumberAreRequestsEach) {
  Loop loop;
  for (int i = 0; i < 20; ++i) {
    loop.Pass(30);
    for (int call = 0; call < 1 + i * i % 7; ++call) {
      loop.Forward("Scorer", 10);
      loop.Pass(2);
    }
  }
  size_t calls = 0;
  for (int i = 0; i < 20; ++i) calls += 1 + i * i % 7;
  EXPECT_EQ(loop.Found().steps.size(), calls);
}

TEST(LoopShapes, APipelineOfModelsIsOneRequest) {
  Loop loop;
  for (int i = 0; i < 6; ++i) {
    loop.Forward("TextEncoder");
    for (int step = 0; step < 20; ++step) loop.Forward("UNet");
    loop.Forward("Decoder");
  }
  EXPECT_EQ(loop.Found().steps.size(), 6u);
}

TEST(LoopShapes, ReplaysWithoutPyTorchAreSteps) {
  Loop loop;  // JAX, with command buffers
  for (int i = 0; i < 60; ++i) {
    loop.build.ApiCall(loop.thread, "cuGraphLaunch", loop.at, loop.at + 10);
    loop.Pass(100);
  }
  const ProcessSteps found = loop.Found();
  EXPECT_EQ(found.source, StepSource::kGraphReplay);
  EXPECT_EQ(found.steps.size(), 60u);
  EXPECT_EQ(found.duration.median, 100);
}

TEST(LoopShapes, AColdFirstOfThreeStepsIsSetApart) {
  Loop loop;
  loop.Pass(10);
  loop.Forward("Net", 5000);
  loop.Backward();
  loop.Update();
  for (int i = 0; i < 2; ++i) loop.Train("Net", kAdam);
  const ProcessSteps found = loop.Found();
  ASSERT_EQ(found.steps.size(), 3u);
  EXPECT_EQ(found.steps[0].kind, StepKind::kWarmUp);
  EXPECT_EQ(found.duration.count, 2u);
  EXPECT_EQ(found.duration.median, 60);
}

}  // namespace
}  // namespace batchlight
