#include "analysis/breakdown/step_breakdown.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/steps/step_inputs.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

void AddPhase(StoreBuilder& build, ThreadId thread, Phase phase, int64_t start, int64_t end) {
  build.Phase(thread, phase, "call", start, end);
}

StepBreakdown BreakDown(const Store& store) {
  const StepSet steps = FindSteps(store);
  const std::vector<StepBreakdown> all = BreakDownSteps(StepInputs(store), steps);
  EXPECT_EQ(all.size(), 1u);
  for (size_t i = 0; i < steps.processes[0].steps.size(); ++i) {
    int64_t sum = 0;
    for (const PhaseShare& phase : all[0].phases) sum += phase.per_step_ns[i];
    EXPECT_EQ(sum, steps.processes[0].steps[i].duration_ns()) << "step " << i;
  }
  return all[0];
}

int64_t TimeOf(const StepBreakdown& breakdown, PhaseKind kind, size_t step = 0) {
  for (const PhaseShare& phase : breakdown.phases) {
    if (phase.kind == kind) return phase.per_step_ns[step];
  }
  return 0;
}

TEST(StepBreakdown, TracedCallsNameThePhases) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Range(thread, "step", 0, 100);
  AddPhase(build, thread, Phase::kDataLoaderNext, 0, 10);
  build.Module(thread, "Net", "Net", 15, 40);
  build.Module(thread, "linear", "Linear", 20, 30);
  build.Module(thread, "CrossEntropyLoss", "CrossEntropyLoss", 40, 45);
  AddPhase(build, thread, Phase::kBackward, 45, 80);
  AddPhase(build, thread, Phase::kOptimizerStep, 82, 95);
  AddPhase(build, thread, Phase::kZeroGrad, 95, 97);
  const StepBreakdown breakdown = BreakDown(build.Build());
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kDataLoading), 10);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kForward), 25);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kLoss), 5);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kBackward), 35);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOptimizer), 13);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kZeroGrad), 2);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOther), 10);
}

TEST(StepBreakdown, TheInnermostNameCounts) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Range(thread, "step", 0, 100);
  build.Range(thread, "forward", 0, 40);
  build.Module(thread, "Net", "Net", 5, 35);       // says nothing new
  build.Range(thread, "batch_to_device", 10, 15);  // inside the forward
  build.Range(thread, "backward", 40, 80);         // holds the zero_grad of the example
  AddPhase(build, thread, Phase::kZeroGrad, 40, 44);
  AddPhase(build, thread, Phase::kBackward, 44, 79);
  build.Module(thread, "Net", "Net", 50, 60);  // activation checkpointing
  build.Range(thread, "optimizer_step", 80, 100);
  AddPhase(build, thread, Phase::kOptimizerStep, 81, 99);
  const StepBreakdown breakdown = BreakDown(build.Build());
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kForward), 35);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kCopyToDevice), 5);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kZeroGrad), 4);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kBackward), 36);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOptimizer), 20);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOther), 0);
}

TEST(StepBreakdown, AnOptimizersClosureHoldsForwardAndBackward) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Range(thread, "step", 0, 100);
  AddPhase(build, thread, Phase::kOptimizerStep, 0, 100);
  build.Module(thread, "Net", "Net", 10, 40);
  AddPhase(build, thread, Phase::kBackward, 40, 80);
  build.Module(thread, "Net", "Net", 50, 60);  // activation checkpointing
  const StepBreakdown breakdown = BreakDown(build.Build());
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kForward), 30);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kBackward), 40);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOptimizer), 30);
}

// Lightning's training_step: the model, metrics, then backward; the optimizer works after it.
TEST(StepBreakdown, WhatAClosureDoesBeforeBackwardIsNoOptimizer) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Range(thread, "step", 0, 100);
  AddPhase(build, thread, Phase::kOptimizerStep, 0, 100);
  build.Module(thread, "Net", "Net", 5, 20);
  build.Module(thread, "Metric", "Metric", 25, 30);
  AddPhase(build, thread, Phase::kZeroGrad, 60, 64);
  AddPhase(build, thread, Phase::kBackward, 64, 80);
  const StepBreakdown breakdown = BreakDown(build.Build());
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kForward), 20);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOther), 35);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kZeroGrad), 4);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kBackward), 16);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOptimizer), 25);
}

TEST(StepBreakdown, WhatRunsInsideDataLoadingIsDataLoading) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Range(thread, "step", 0, 100);
  AddPhase(build, thread, Phase::kDataLoaderNext, 10, 60);
  build.Module(thread, "Resize", "Resize", 20, 30);
  build.Range(thread, "forward", 35, 40);
  const StepBreakdown breakdown = BreakDown(build.Build());
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kDataLoading), 50);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kForward), 0);
}

TEST(StepBreakdown, RangesWithOtherNamesStandUnderTheirOwn) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 3; ++i) {
    const int64_t at = i * 200;
    build.Range(thread, "step", at, at + 100);
    build.Range(thread, "augment", at + 10, at + 30);
    build.Range(thread, "inner", at + 12, at + 20);
    build.Range(thread, "forward", at + 25, at + 28);
  }
  const StepBreakdown breakdown = BreakDown(build.Build());
  ASSERT_EQ(breakdown.phases.size(), 3u);
  EXPECT_EQ(breakdown.phases[1].kind, PhaseKind::kUserRange);
  EXPECT_EQ(breakdown.phases[1].name, "augment");
  EXPECT_EQ(breakdown.phases[1].per_step_ns, (std::vector<int64_t>{17, 17, 17}));
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kForward), 3);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOther), 80);
  EXPECT_DOUBLE_EQ(breakdown.phases[1].share, 0.102);
  EXPECT_EQ(breakdown.steady_total_ns, 500);  // with what lies between the ranges
}

TEST(StepBreakdown, RangesOfCudasOwnAlgorithmsAreNoPhases) {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId thread = build.Thread(process);
  build.store().nvtx_domains.Append({.process = process, .name = build.Text("CCCL")});
  for (int64_t at = 0; at < 600; at += 200) {
    build.Range(thread, "step", at, at + 100);
    build.Range(thread, "cub::DeviceRadixSort", at + 20, at + 40);
    build.store().nvtx_ranges.domain.back() = NvtxDomainId::At(0);
  }
  const StepBreakdown breakdown = BreakDown(build.Build());
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kUserRange), 0);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOther), 100);
}

TEST(StepBreakdown, RangesThatDifferByANumberAreOnePhase) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * 100;
    build.Range(thread, "step", at, at + 100);
    build.Range(thread, "sample " + std::to_string(2 * i), at + 10, at + 30);
    build.Range(thread, "sample " + std::to_string(2 * i + 1), at + 40, at + 50);
  }
  const StepBreakdown breakdown = BreakDown(build.Build());
  ASSERT_EQ(breakdown.phases.size(), 2u);
  EXPECT_EQ(breakdown.phases[0].name, "sample #");
  EXPECT_EQ(breakdown.phases[0].steady.min, 30);
  EXPECT_EQ(breakdown.phases[0].steady.max, 30);
}

TEST(StepBreakdown, ExplainsALongStep) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 8; ++i) {
    const int64_t at = i * 1000;
    const int64_t data = i == 5 ? 400 : 20;
    const int64_t forward = i == 5 ? 90 : 50;
    build.Range(thread, "step", at, at + data + forward);
    build.Range(thread, "data_loading", at, at + data);
    build.Range(thread, "forward", at + data, at + data + forward);
  }
  const StepBreakdown breakdown = BreakDown(build.Build());
  const std::vector<StepExcess> excess = ExplainStep(breakdown, 5);
  ASSERT_EQ(excess.size(), 2u);
  EXPECT_EQ(breakdown.phases[excess[0].phase].kind, PhaseKind::kDataLoading);
  EXPECT_EQ(excess[0].excess_ns, 380);
  EXPECT_EQ(excess[1].excess_ns, 40);
  EXPECT_TRUE(ExplainStep(breakdown, 1).empty());
}

TEST(StepBreakdown, PyTorchsOwnNamesAreEnough) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 3; ++i) {
    const int64_t at = i * 100;
    build.Operator(thread, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at,
                   at + 10, -1, 0, OperatorScope::kUser);
    build.Operator(thread, "aten::linear", at + 20, at + 30);
    build.Operator(thread, "autograd::engine::evaluate_function: AddmmBackward0", at + 40, at + 60);
    build.Operator(thread, "Optimizer.step#SGD.step", at + 70, at + 100, -1, 0,
                   OperatorScope::kUser);
  }
  const StepBreakdown breakdown = BreakDown(build.Build());
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kDataLoading, 1), 10);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kBackward, 1), 20);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOptimizer, 1), 30);
}

TEST(StepBreakdown, UnnamedCudaCallsAreWaitsAndCopies) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Range(thread, "step", 0, 1000);
  // A pageable copy: called at 10, begun by the GPU at 60, both done at 80.
  build.Copy(thread, CopyKind::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice, 4096, 10,
             60, 80);
  build.store().api_calls.end_ns.back() = 80;
  // A pinned one returns before the GPU begins it: the call is all copy.
  build.Copy(thread, CopyKind::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 4096, 100,
             300, 400);
  build.store().api_calls.end_ns.back() = 110;
  AddPhase(build, thread, Phase::kBackward, 200, 500);
  build.ApiCall(thread, "cudaStreamSynchronize_v3020", 250, 350);  // part of backward
  build.Range(thread, "log metrics", 600, 700);
  build.ApiCall(thread, "cudaStreamSynchronize_v3020", 650, 690);  // has the user's name
  build.ApiCall(thread, "cudaDeviceSynchronize_v3020", 800, 900);
  build.ApiCall(thread, "cudaLaunchKernel_v7000", 950, 960);
  const StepBreakdown breakdown = BreakDown(build.Build());
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kGpuWait), 50 + 100);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kCopyToDevice), 20 + 10);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kBackward), 300);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kUserRange), 100);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOther), 1000 - 150 - 30 - 300 - 100);
}

// As torch.profiler records a loop on a GPU: no modules, the backward on a thread of the engine.
TEST(StepBreakdown, OperatorsShowForwardAndBackward) {
  StoreBuilder build;
  const ProcessId process = build.Process(1, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId engine = build.Thread(process);
  for (int i = 0; i < 3; ++i) {
    const int64_t at = i * 100;
    AddPhase(build, main, Phase::kDataLoaderNext, at, at + 10);
    build.Operator(main, "aten::stack", at + 2, at + 8, 5 + i);  // inside data loading
    AddPhase(build, main, Phase::kZeroGrad, at + 10, at + 12);
    build.Operator(main, "aten::linear", at + 14, at + 20, 7 + i);
    build.Operator(main, "aten::relu", at + 24, at + 30, 8 + i);
    build.Operator(main, "aten::empty", at + 31, at + 33, -1);
    build.Operator(engine, "autograd::engine::evaluate_function: A", at + 40, at + 50);
    build.Operator(engine, "autograd::engine::evaluate_function: B", at + 52, at + 60);
    AddPhase(build, main, Phase::kOptimizerStep, at + 70, at + 100);
    build.Operator(main, "aten::addcdiv_", at + 72, at + 98, -1);
  }
  const StepBreakdown breakdown = BreakDown(build.Build());
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kDataLoading, 1), 10);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kForward, 1), 16) << "with the gap between operators";
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kBackward, 1), 20);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOptimizer, 1), 30);
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kOther, 1), 22);
}

TEST(StepBreakdown, WithoutSequenceNumbersForwardIsWhatABackwardFollows) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  for (int i = 0; i < 3; ++i) {
    const int64_t at = i * 100;
    AddPhase(build, main, Phase::kDataLoaderNext, at, at + 10);
    build.Operator(main, "aten::linear", at + 14, at + 20);
    build.Operator(main, "aten::relu", at + 24, at + 30);
    build.Operator(main, "autograd::engine::evaluate_function: A", at + 40, at + 50);
    AddPhase(build, main, Phase::kOptimizerStep, at + 70, at + 90);
    build.Operator(main, "aten::item", at + 92, at + 95);
  }
  const StepBreakdown breakdown = BreakDown(build.Build());
  EXPECT_EQ(TimeOf(breakdown, PhaseKind::kForward, 1), 16);
}

// Whatever the intervals, also overlapping without nesting and cut by steps: the phases add up.
TEST(StepBreakdown, AlwaysAddsUp) {
  std::mt19937 random(3);
  constexpr const char* kNames[] = {"forward",    "backward", "optimizer_step", "batch_to_device",
                                    "validation", "mine",     "other thing",    "zero_grad"};
  for (int round = 0; round < 40; ++round) {
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(1, "train.py"));
    for (int i = 0; i < 10; ++i) build.Range(thread, "step", i * 100, i * 100 + 90);
    for (int i = 0; i < 60; ++i) {
      const int64_t start = static_cast<int64_t>(random() % 1000);
      build.Range(thread, kNames[random() % 8], start,
                  start + 1 + static_cast<int64_t>(random() % 120));
    }
    for (int i = 0; i < 20; ++i) {
      const int64_t start = static_cast<int64_t>(random() % 1000);
      build.Module(thread, "Net", "Net", start, start + 1 + static_cast<int64_t>(random() % 50));
    }
    BreakDown(build.Build());
  }
}

TEST(PhaseNames, AreThoseThatPeopleUse) {
  EXPECT_EQ(PhaseOfRangeName("dataloader_setup"), PhaseKind::kDataLoading);
  EXPECT_EQ(PhaseOfRangeName("batch_to_device"), PhaseKind::kCopyToDevice);
  EXPECT_EQ(PhaseOfRangeName("H2D copy"), PhaseKind::kCopyToDevice);
  EXPECT_EQ(PhaseOfRangeName("Forward"), PhaseKind::kForward);
  EXPECT_EQ(PhaseOfRangeName("forward 12"), PhaseKind::kForward);
  EXPECT_EQ(PhaseOfRangeName("backward"), PhaseKind::kBackward);
  EXPECT_EQ(PhaseOfRangeName("optimizer_step"), PhaseKind::kOptimizer);
  EXPECT_EQ(PhaseOfRangeName("optimizer.zero_grad"), PhaseKind::kZeroGrad);
  EXPECT_EQ(PhaseOfRangeName("ncclDevKernel_AllReduce"), PhaseKind::kCommunication);
  EXPECT_EQ(PhaseOfRangeName("aten::linear, seq = 5"), PhaseKind::kOther);
  EXPECT_EQ(PhaseOfRangeName("step"), PhaseKind::kOther);
  EXPECT_EQ(PhaseOfRangeName("epoch_1"), PhaseKind::kOther);
  EXPECT_EQ(PhaseOfRangeName(""), PhaseKind::kOther);
}

}  // namespace
}  // namespace batchlight
