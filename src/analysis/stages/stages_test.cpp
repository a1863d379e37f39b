#include "analysis/stages/stages.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "analysis/steps/step_inputs.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

constexpr int64_t kMs = 1'000'000;

TEST(Stages, MeanOfRanksAddsUpToTheMeanOfTheirLives) {
  const auto process = [](int64_t start_up_ns, int64_t training_ns, uint64_t steps) {
    ProcessStages life;
    life.spans = {{0, start_up_ns, StageKind::kStartUp},
                  {start_up_ns, start_up_ns + training_ns, StageKind::kTraining}};
    life.totals = {{.kind = StageKind::kStartUp, .count = 1, .total_ns = start_up_ns},
                   {.kind = StageKind::kTraining, .count = steps, .total_ns = training_ns}};
    return life;
  };
  RunStages run;
  run.processes.push_back(process(100, 900, 10));
  EXPECT_FALSE(MeanOf(run)) << "one is no mean";
  run.processes.push_back(process(300, 700, 6));
  const std::optional<MeanStages> mean = MeanOf(run);
  ASSERT_TRUE(mean);
  EXPECT_EQ(mean->processes, 2u);
  EXPECT_EQ(mean->wall_ns, 1000);
  ASSERT_EQ(mean->totals.size(), 2u);
  EXPECT_EQ(mean->totals[0].total_ns, 200);
  EXPECT_EQ(mean->totals[1].total_ns, 800);
  EXPECT_EQ(mean->totals[1].count, 8u);
  EXPECT_DOUBLE_EQ(mean->totals[1].each_ns, 100);
  EXPECT_DOUBLE_EQ(mean->totals[0].share + mean->totals[1].share, 1);
}

class StagesTest : public ::testing::Test {
 protected:
  // start-up to 2 s, one epoch of `steps` steps of 100 ms each.
  void Start(int64_t imports_until_ms = 1000) {
    build_.Phase(main_, Phase::kPythonStart, "python start", 50 * kMs, 50 * kMs);
    build_.Phase(main_, Phase::kImport, "torch", 100 * kMs, imports_until_ms * kMs);
    build_.Phase(main_, Phase::kImport, "numpy", 200 * kMs, 300 * kMs);
    at_ = imports_until_ms;
  }
  void Prepare(int64_t until_ms) {  // operators without a pause
    for (; at_ < until_ms; at_ += 10) Operator(at_, at_ + 9);
  }
  void Operator(int64_t from_ms, int64_t to_ms) {
    build_.Operator(main_, "aten::normal_", from_ms * kMs, to_ms * kMs);
  }
  void Step() {
    build_.Module(main_, "Net", "Net", at_ * kMs, (at_ + 30) * kMs);
    build_.Phase(main_, Phase::kBackward, "backward", (at_ + 31) * kMs, (at_ + 80) * kMs);
    build_.Phase(main_, Phase::kOptimizerStep, "SGD.step", (at_ + 81) * kMs, (at_ + 100) * kMs);
    at_ += 100;
  }
  void Validate(int64_t calls) {
    build_.Phase(main_, Phase::kEvalMode, "Module.eval", at_ * kMs, at_ * kMs);
    for (int64_t i = 0; i < calls; ++i, at_ += 20) {
      build_.Module(main_, "Net", "Net", at_ * kMs, (at_ + 20) * kMs);
      build_.Phase(main_, Phase::kEvaluationCall, "eval, no_grad", at_ * kMs + 1,
                   (at_ + 20) * kMs - 1);
    }
    build_.Phase(main_, Phase::kTrainMode, "Module.train", at_ * kMs, at_ * kMs);
  }
  // Three times ten steps with 400 ms behind them; each begins with a loader, or nothing does.
  std::map<std::string, int64_t> ThreeEpochs(bool loader) {
    Start();
    Prepare(1100);
    for (int epoch = 0; epoch < 3; ++epoch) {
      const int64_t start_ns = at_ * kMs;
      if (loader) build_.Phase(main_, Phase::kDataLoaderInit, "iter", start_ns, start_ns + 1);
      for (int i = 0; i < 10; ++i) Step();
      at_ += 400;
    }
    End(at_);
    return Find();
  }
  // Before every tenth iteration 400 ms pass, in which the thread waits so long for a processor.
  std::map<std::string, int64_t> SlowIterations(int64_t waited_ms) {
    Start();
    Prepare(1100);
    build_.store().threads.tid[main_.row()] = 1;
    int64_t all_waited_ms = 0;
    const auto look = [&] {
      build_.store().process_usage.Append({.start_ns = at_ * kMs,
                                           .process = ProcessId::At(0),
                                           .first_waited_ns = all_waited_ms * kMs});
    };
    for (int i = 0; i < 30; ++i) {
      if (i % 10 == 9) {
        look();
        at_ += 400;
        all_waited_ms += waited_ms;
        look();
      }
      Step();
    }
    End(at_);
    return Find();
  }
  void End(int64_t at_ms) {
    build_.Phase(main_, Phase::kMainEnd, "end of main program", at_ * kMs, at_ * kMs);
    build_.store().processes.end_ns[0] = at_ms * kMs;
  }

  // 300 ms: of a loader from then to 200 ms, a save from 250 to 280.
  void SaveBehindLoader(int64_t from_ms) {
    build_.Phase(main_, Phase::kDataLoaderNext, "_MultiProcessingDataLoaderIter.__next__",
                 (at_ + from_ms) * kMs, (at_ + 200) * kMs);
    build_.Phase(main_, Phase::kCheckpoint, "torch.save", (at_ + 250) * kMs, (at_ + 280) * kMs);
    at_ += 300;
  }

  PythonStackId Frame(const char* function, PythonStackId parent = {}) {
    PythonFramesTable& frames = build_.store().python_frames;
    PythonStacksTable& stacks = build_.store().python_stacks;
    frames.Append({.file = build_.Text("/home/u/train.py"), .function = build_.Text(function)});
    frames.line.back() = 1 + static_cast<uint32_t>(frames.size());
    stacks.Append({.frame = PythonFrameId::At(frames.size() - 1), .parent = parent});
    return PythonStackId::At(stacks.size() - 1);
  }
  void Look(PythonStackId stack, int64_t from_ms, int64_t to_ms) {  // each 10 ms
    build_.store().python_samples.Append({.start_ns = from_ms * kMs,
                                          .end_ns = to_ms * kMs,
                                          .thread = main_,
                                          .python_stack = stack,
                                          .samples = static_cast<uint32_t>(to_ms - from_ms) / 10});
  }

  // Stage -> ms; checks what must always hold.
  std::map<std::string, int64_t> Find() {
    store_ = build_.Build();
    const StepInputs inputs(store_);
    run_ = FindStages(inputs, FindSteps(inputs, {}));
    std::map<std::string, int64_t> ms;
    if (run_.processes.empty()) return ms;
    const ProcessStages& found = run_.processes[0];
    int64_t at_ns = found.spans.front().start_ns;
    int64_t sum_ns = 0;
    for (const StageSpan& span : found.spans) {
      EXPECT_EQ(span.start_ns, at_ns);
      EXPECT_GT(span.end_ns, span.start_ns);
      at_ns = span.end_ns;
    }
    for (const StageTotal& total : found.totals) {
      sum_ns += total.total_ns;
      ms[std::string(StageKindName(total.kind))] = total.total_ns / kMs;
    }
    EXPECT_EQ(sum_ns, found.wall_ns());
    const StartUpParts& parts = found.start_up;
    const StageTotal* start = found.Of(StageKind::kStartUp);
    EXPECT_EQ(parts.interpreter_ns + parts.imports_ns + parts.cuda_ns + parts.set_up_ns +
                  parts.unknown_ns,
              start == nullptr ? 0 : start->total_ns);
    return ms;
  }

  StoreBuilder build_;
  ThreadId main_ = build_.Thread(build_.Process(1, "train.py"));
  int64_t at_ = 0;  // ms
  Store store_;
  RunStages run_;
};

TEST_F(StagesTest, AddUpToTheLifeOfTheProcess) {
  Start();
  Prepare(1500);
  for (int i = 0; i < 8; ++i) Step();
  Validate(10);
  for (int i = 0; i < 8; ++i) Step();
  build_.Phase(main_, Phase::kCheckpoint, "torch.save", at_ * kMs, (at_ + 60) * kMs);
  at_ += 60;
  End(at_ + 90);
  const auto ms = Find();
  EXPECT_EQ(ms, (std::map<std::string, int64_t>{{"start-up", 1500},
                                                {"training", 1600},
                                                {"validation", 200},
                                                {"checkpoint", 60},
                                                {"shutdown", 90}}));
  EXPECT_EQ(run_.processes[0].Of(StageKind::kTraining)->count, 16u);
  EXPECT_EQ(run_.processes[0].Of(StageKind::kValidation)->count, 1u);
  const StartUpParts& parts = run_.processes[0].start_up;
  EXPECT_EQ(parts.interpreter_ns, 50 * kMs);
  EXPECT_EQ(parts.imports_ns, 900 * kMs);
  EXPECT_EQ(parts.pytorch_imports_ns, 900 * kMs);  // with numpy
  ASSERT_EQ(parts.largest.size(), 2u);             // torch imports numpy
  EXPECT_EQ(parts.largest[0].package, "torch");
  EXPECT_EQ(parts.largest[0].ns, 800 * kMs);
  EXPECT_EQ(parts.largest[1].package, "numpy");
  EXPECT_EQ(parts.largest[1].ns, 100 * kMs);
}

// CUDA starts until the first call that gives the GPU work; an import that loads its libraries is
// still an import.
TEST_F(StagesTest, CudasStartIsAPartOfStartUp) {
  Start();
  build_.ApiCall(main_, "cuInit", 900 * kMs, 950 * kMs);  // by torch's import
  build_.Phase(main_, Phase::kFunction, "torch.cuda._lazy_init", 1100 * kMs, 1300 * kMs);
  build_.ApiCall(main_, "cudaGetDeviceCount_v3020", 1110 * kMs, 1290 * kMs);
  build_.ApiCall(main_, "cudaFree_v3020", 1300 * kMs, 1360 * kMs);
  build_.ApiCall(main_, "cudaLaunchKernel_v7000", 1370 * kMs, 1380 * kMs);
  build_.ApiCall(main_, "cudaDeviceSynchronize_v3020", 1390 * kMs, 1490 * kMs);
  Prepare(1500);
  for (int i = 0; i < 8; ++i) Step();
  End(at_ + 90);
  EXPECT_EQ(Find().at("start-up"), 1500);
  const StartUpParts& parts = run_.processes[0].start_up;
  EXPECT_EQ(parts.imports_ns, 900 * kMs);
  EXPECT_EQ(parts.cuda_ns, 260 * kMs);
  EXPECT_EQ(parts.set_up_ns, 290 * kMs);
  const std::vector<StartUpPart> named = PartsByName(parts);
  const auto cuda = std::find_if(named.begin(), named.end(), [](const StartUpPart& part) {
    return part.name == "CUDA context";
  });
  ASSERT_NE(cuda, named.end());
  EXPECT_EQ(cuda->ns, 260 * kMs);
}

TEST_F(StagesTest, AStepThatCompilesIsNoTraining) {
  Start();
  Prepare(1500);
  build_.Phase(main_, Phase::kCompile, "torch.compile", at_ * kMs, (at_ + 500) * kMs);
  at_ += 500;
  for (int i = 0; i < 8; ++i) Step();
  End(at_ + 90);
  const auto ms = Find();
  EXPECT_GE(ms.at("compile"), 500);
  EXPECT_EQ(ms.at("training") + ms.at("compile"), 500 + 8 * 100);
  EXPECT_EQ(run_.processes[0].Of(StageKind::kCompile)->count, 1u);
}

TEST_F(StagesTest, TheCaptureOfAGraphIsNoTraining) {
  Start();
  Prepare(1500);
  const auto step = [&](int64_t length_ms) {
    build_.Phase(main_, Phase::kDataLoaderNext, "DataLoader", at_ * kMs, (at_ + 10) * kMs);
    at_ += length_ms;
  };
  const auto update = [&](int64_t from_ms, int64_t to_ms) {
    build_.Phase(main_, Phase::kBackward, "backward", (at_ + from_ms - 5) * kMs,
                 (at_ + from_ms) * kMs);
    build_.Phase(main_, Phase::kOptimizerStep, "SGD.step", (at_ + from_ms) * kMs,
                 (at_ + to_ms) * kMs);
  };
  for (int i = 0; i < 2; ++i) {
    update(50, 60);
    step(100);
  }
  build_.ApiCall(main_, "cudaStreamBeginCapture_v10000", (at_ + 20) * kMs, (at_ + 21) * kMs);
  update(30, 40);
  build_.ApiCall(main_, "cudaStreamEndCapture_v10000", (at_ + 60) * kMs, (at_ + 61) * kMs);
  build_.ApiCall(main_, "cudaGraphInstantiateWithFlags_v11040", (at_ + 62) * kMs,
                 (at_ + 250) * kMs);
  step(300);
  for (int i = 0; i < 10; ++i) {
    build_.ApiCall(main_, "cudaGraphLaunch_v10000", (at_ + 20) * kMs, (at_ + 30) * kMs);
    step(100);
  }
  step(10);
  End(at_ + 90);
  const auto ms = Find();
  EXPECT_EQ(ms, (std::map<std::string, int64_t>{{"start-up", 1500},
                                                {"warm-up", 200},
                                                {"graph capture", 300},
                                                {"training", 1000},
                                                {"other", 10},
                                                {"shutdown", 90}}));
  EXPECT_EQ(run_.processes[0].Of(StageKind::kGraphCapture)->count, 1u);
  EXPECT_EQ(run_.processes[0].Of(StageKind::kTraining)->count, 10u);
}

// The first use of a PyTorch: its import waits until the operator recorder is compiled, which is no
// part of the program's start-up.
TEST_F(StagesTest, TheRecordersBuildIsAStageOfItsOwn) {
  Start();
  build_.Phase(main_, Phase::kRecorderBuild, "batchlight: building its operator recorder",
               400 * kMs, 800 * kMs);
  build_.Phase(main_, Phase::kImport, "subprocess", 450 * kMs, 500 * kMs);
  Prepare(1500);
  for (int i = 0; i < 8; ++i) Step();
  End(at_ + 90);
  EXPECT_EQ(Find(), (std::map<std::string, int64_t>{{"start-up", 1100},
                                                    {"batchlight: building its recorder", 400},
                                                    {"training", 800},
                                                    {"shutdown", 90}}));
  const StartUpParts& parts = run_.processes[0].start_up;
  EXPECT_EQ(parts.imports_ns, 500 * kMs);
  EXPECT_EQ(parts.pytorch_imports_ns, 500 * kMs);
  EXPECT_EQ(parts.set_up_ns, 550 * kMs);
  ASSERT_EQ(parts.largest.size(), 2u);
  EXPECT_EQ(parts.largest[0].ns, 400 * kMs);
  EXPECT_EQ(parts.largest[1].package, "numpy");
}

// What is left of a step that compiles is no training: "10 x 64 ms" of steps of 1.3 ms.
TEST_F(StagesTest, AStepThatCompilesIsCompile) {
  Start();
  Prepare(1100);
  build_.Module(main_, "Net", "Net", at_ * kMs, (at_ + 900) * kMs);
  build_.Phase(main_, Phase::kCompile, "compile", (at_ + 100) * kMs, (at_ + 500) * kMs);
  at_ += 830;
  for (int i = 0; i < 10; ++i) Step();
  End(at_);
  const auto ms = Find();
  EXPECT_EQ(ms.at("compile"), 930);
  EXPECT_EQ(ms.at("training"), 900);
  EXPECT_EQ(run_.processes[0].Of(StageKind::kTraining)->count, 9u);
  EXPECT_EQ(run_.processes[0].Of(StageKind::kCompile)->count, 1u);
}

TEST_F(StagesTest, RequestsToAModelThatLearnsNothingAreInference) {
  Start();
  Prepare(1500);
  for (int i = 0; i < 20; ++i, at_ += 50) {
    build_.Module(main_, "Net", "Net", at_ * kMs, (at_ + 40) * kMs);
  }
  End(at_ + 90);
  const auto ms = Find();
  EXPECT_EQ(ms.count("training"), 0u);
  EXPECT_NEAR(double(ms.at("inference")), 1000, 100);
  EXPECT_EQ(run_.processes[0].Of(StageKind::kInference)->count,
            20u - (ms.contains("warm-up") ? 1 : 0));
}

TEST_F(StagesTest, QuietTimeBeforeTheLoopIsPreprocessing) {
  Start();
  Prepare(1200);
  at_ = 3200;  // nothing for two seconds but one tensor made at once
  Operator(2000, 2001);
  Prepare(3500);
  for (int i = 0; i < 8; ++i) Step();
  End(at_ + 10);
  const auto ms = Find();
  EXPECT_EQ(ms.at("preprocessing"), 2001);  // from 1199 to 3200
  EXPECT_EQ(ms.at("start-up"), 1499);
}

// `-t nvtx --pytorch=none`: the import of torch lies somewhere in the start-up.
TEST_F(StagesTest, WithoutImportsNothingIsSaidOfTheStartUp) {
  build_.Phase(main_, Phase::kPythonStart, "python start", 50 * kMs, 50 * kMs);
  at_ = 3000;
  for (int i = 0; i < 8; ++i) Step();
  End(at_ + 10);
  const auto ms = Find();
  EXPECT_EQ(ms.at("start-up"), 3000);
  EXPECT_FALSE(ms.contains("preprocessing"));
  EXPECT_EQ(run_.processes[0].start_up.set_up_ns, 0);
  EXPECT_EQ(run_.processes[0].start_up.unknown_ns, 2950 * kMs);
}

// A rank that a program forks has all that it needs of its parent's.
TEST_F(StagesTest, AForkedProcessKnowsTheImportsOfItsParent) {
  Start(500);
  const ProcessId child = build_.Process(2, "train.py");
  build_.store().processes.parent[child.row()] = ProcessId::At(0);
  build_.store().processes.start_ns[child.row()] = 600 * kMs;
  main_ = build_.Thread(child);
  at_ = 900;
  for (int i = 0; i < 8; ++i) Step();
  build_.store().processes.end_ns[child.row()] = at_ * kMs;
  build_.Property("batchlight.version", "1");
  EXPECT_EQ(Find().at("start-up"), 300);
  EXPECT_EQ(run_.processes[0].start_up.set_up_ns, 300 * kMs);
}

TEST_F(StagesTest, WhatHappensBeforeFewIterationsIsBetweenEpochs) {
  const auto ms = ThreeEpochs(true);
  EXPECT_EQ(ms.at("between epochs"), 800);  // after the last epoch there is none
  EXPECT_FALSE(ms.contains("between steps"));
}

TEST_F(StagesTest, AStepThatIsMostlyAnotherStageSaysWhich) {
  ThreeEpochs(true);
  const ProcessId process = run_.processes[0].process;
  const TimeSpan between = SpansOf(run_.processes[0].spans, StageKind::kBetweenEpochs).at(0);
  const auto most = [&](int64_t start_ns, int64_t end_ns) {
    batchlight::Step step;
    step.start_ns = start_ns;
    step.end_ns = end_ns;
    return MostOf(run_, process, step);
  };
  const auto longer = most(between.start_ns - 100 * kMs, between.end_ns + 100 * kMs);
  ASSERT_TRUE(longer.has_value());
  EXPECT_EQ(longer->kind, StageKind::kBetweenEpochs);
  EXPECT_EQ(longer->ns, between.end_ns - between.start_ns);
  EXPECT_FALSE(most(between.start_ns - 300 * kMs, between.end_ns + 300 * kMs).has_value());
  EXPECT_FALSE(most(between.start_ns - 100 * kMs, between.start_ns).has_value());
}

// Where it is known when an epoch begins, a long sleep in the middle of one is a slow iteration,
// and what lies beside a validation there is between steps.
TEST_F(StagesTest, InTheMiddleOfAnEpochNothingIsBetweenTwo) {
  Start();
  Prepare(1100);
  for (int epoch = 0; epoch < 3; ++epoch) {
    build_.Phase(main_, Phase::kDataLoaderInit, "iter", at_ * kMs, at_ * kMs + 1);
    for (int i = 0; i < 10; ++i) {
      if (epoch == 1 && i == 5) at_ += 400;
      Step();
      if (epoch == 1 && i == 7) {
        Validate(10);
        at_ += 300;
      }
    }
    at_ += 400;
  }
  End(at_);
  const auto ms = Find();
  EXPECT_EQ(ms.at("between epochs"), 800);
  EXPECT_EQ(ms.at("between steps"), 300);
  EXPECT_EQ(ms.at("training"), 3400);
}

TEST_F(StagesTest, ALoopWithoutEpochsHasNothingBetweenThem) {
  const auto ms = ThreeEpochs(false);
  EXPECT_EQ(ms.at("between steps"), 800);
  EXPECT_FALSE(ms.contains("between epochs"));
}

TEST_F(StagesTest, ASlowSampleOfAReplayBufferIsTraining) {
  Start();
  Prepare(1100);
  for (int i = 0; i < 40; ++i) {
    at_ += i % 10 == 5 ? 450 : 200;  // the iteration's own work before its forward
    Step();
  }
  End(at_);
  EXPECT_EQ(Find().count("between steps"), 0u);
}

TEST_F(StagesTest, WorkBeforeFewIterationsIsBetweenSteps) {
  EXPECT_EQ(SlowIterations(0).count("between steps"), 1u);
}

// A pass over all kernels takes a second before a step of 0.1 s: neither the program's work between
// steps nor its training.
TEST_F(StagesTest, ReadingCountersIsAStageOfItsOwn) {
  Start();
  Prepare(1100);
  for (int i = 0; i < 30; ++i) {
    if (i % 10 == 9) {
      build_.store().counter_ranges.Append({.start_ns = at_ * kMs,
                                            .end_ns = (at_ + 1000) * kMs,
                                            .process = ProcessId::At(0),
                                            .kernels = 9});
      at_ += 1000;
    }
    Step();
  }
  End(at_);
  const auto ms = Find();
  EXPECT_FALSE(ms.contains("between steps"));
  EXPECT_EQ(ms.at("training"), 2700);
  EXPECT_EQ(ms.at("batchlight: reading counters"), 3300);
  EXPECT_EQ(run_.processes[0].Of(StageKind::kCounters)->count, 3u);
}

// A busy machine: the thread could run all the while and had no processor.
TEST_F(StagesTest, WhatWaitsForAProcessorIsNothingBetweenSteps) {
  EXPECT_EQ(SlowIterations(380).count("between steps"), 0u);
}

// A clock that synchronizes before every tenth iteration: the GPU is at work on those before.
TEST_F(StagesTest, WaitingForTheGpuIsNothingBetweenSteps) {
  Start();
  Prepare(1100);
  for (int i = 0; i < 50; ++i) {
    if (i % 10 == 9) {
      build_.ApiCall(main_, "cudaDeviceSynchronize", (at_ + 1) * kMs, (at_ + 399) * kMs);
      at_ += 400;
    }
    Step();
  }
  End(at_);
  EXPECT_EQ(Find().count("between steps"), 0u);
}

TEST_F(StagesTest, AStallInEveryFifthIterationIsTraining) {
  Start();
  Prepare(1100);
  for (int i = 0; i < 50; ++i) {
    at_ += i % 5 == 3 ? 400 : 1;
    Step();
  }
  End(at_);
  EXPECT_EQ(Find().count("between steps"), 0u);
}

TEST_F(StagesTest, WhatASaveNeedsBesideItselfIsCheckpoint) {
  Start();
  Prepare(1100);
  for (int i = 0; i < 24; ++i) {
    Step();
    if (i % 8 != 7) continue;
    build_.Phase(main_, Phase::kCheckpoint, "torch.save", (at_ + 50) * kMs, (at_ + 80) * kMs);
    at_ += 300;  // state_dict(), torch.save(), fsync()
  }
  End(at_);
  const auto ms = Find();
  EXPECT_EQ(ms.at("checkpoint"), 680);  // after the last step only until the save ends
  EXPECT_EQ(ms.count("between steps"), 0u);
}

// The loader that ended took 200 ms to stop its workers.
TEST_F(StagesTest, ALoadersEndIsNoPartOfTheSaveBehindIt) {
  Start();
  Prepare(1100);
  for (int i = 0; i < 24; ++i) {
    Step();
    if (i % 8 != 7) continue;
    SaveBehindLoader(0);
  }
  End(at_);
  const auto ms = Find();
  EXPECT_LE(ms.at("checkpoint"), 300);
  EXPECT_EQ(ms.at("between steps"), 400);
}

// A metric of 200 ms, which its own function computes, before the function that saves for 60 ms.
TEST_F(StagesTest, WhatElseTheLoopCallsThereIsNoCheckpoint) {
  const PythonStackId fit = Frame("fit");
  const PythonStackId metric = Frame("metric", fit), save = Frame("save", fit);
  Start();
  Prepare(1100);
  for (int i = 0; i < 24; ++i) {
    Look(fit, at_, at_ + 100);
    Step();
    if (i % 8 != 7) continue;
    Look(metric, at_, at_ + 200);
    Look(save, at_ + 200, at_ + 260);
    build_.Phase(main_, Phase::kCheckpoint, "torch.save", (at_ + 220) * kMs, (at_ + 250) * kMs);
    at_ += 260;
  }
  End(at_);
  const auto ms = Find();
  EXPECT_NEAR(double(ms.at("checkpoint")), 3 * 60, 20);
  EXPECT_NEAR(double(ms.at("between steps")), 2 * 200, 20);  // the last one ends the program
}

// What is cut off from a save is part of its stage, and no other one.
TEST_F(StagesTest, ACheckpointInPiecesIsCountedOnce) {
  Start();
  Prepare(1100);
  for (int i = 0; i < 24; ++i) {
    Step();
    if (i % 8 != 7) continue;
    SaveBehindLoader(50);
  }
  End(at_);
  Find();
  EXPECT_EQ(run_.processes[0].Of(StageKind::kCheckpoint)->count, 3u);
}

TEST_F(StagesTest, WithoutStepsOnlyImportsAreStartUp) {
  Start();
  at_ = 5000;
  End(5100);
  const auto ms = Find();
  EXPECT_EQ(
      ms, (std::map<std::string, int64_t>{{"start-up", 950}, {"other", 4050}, {"shutdown", 100}}));
}

// Imported traces know no start of a process.
TEST_F(StagesTest, NothingIsInvented) {
  at_ = 1000;
  for (int i = 0; i < 8; ++i) Step();
  const auto ms = Find();
  EXPECT_EQ(ms.count("start-up"), 0u);
  EXPECT_EQ(ms.count("shutdown"), 0u);
  EXPECT_EQ(ms.at("training"), 800);
}

// Of a program that goes on, or whose recorder was killed, the end of the capture is not known.
TEST_F(StagesTest, ACaptureWithoutAnEndReachesToTheLastThatIsKnown) {
  Start();
  Prepare(1500);
  for (int i = 0; i < 8; ++i) Step();
  build_.store().capture_windows.Append({.start_ns = 0, .end_ns = kOpenEnd});
  build_.store().duration_ns = at_ * kMs;
  const auto ms = Find();
  EXPECT_EQ(ms, (std::map<std::string, int64_t>{{"start-up", 1500}, {"training", 800}}));
}

TEST_F(StagesTest, NothingToShowWithoutStepsAndPython) {
  Operator(0, 10);
  EXPECT_TRUE(Find().empty());
}

}  // namespace
}  // namespace batchlight
