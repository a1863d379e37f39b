#include "analysis/gpu/gpu_breakdown.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analysis/testing/plain_marks.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

int64_t Part(const GpuStepParts& step, GpuPart part) {
  return step.part_ns[static_cast<size_t>(part)];
}

void ExpectAddsUp(const GpuBreakdown& gpu) {
  for (const GpuStepParts& step : gpu.steps) {
    EXPECT_EQ(std::accumulate(step.part_ns.begin(), step.part_ns.end(), int64_t{0}),
              step.duration_ns());
  }
}

// Nothing says which of a graph's kernels use Tensor Cores.
TEST(GpuBreakdown, GraphsRecordedAsAWholeAreAPartOfTheirOwn) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int64_t t = 0; t < 4'000'000; t += 1'000'000) {
    build.Range(main, "step", t, t + 990'000);
    build.Kernel(main, "vectorized_elementwise_kernel", t + 100, t + 200, t + 10'000);
  }
  Store store = build.Build();
  for (int64_t t = 0; t < 4'000'000; t += 1'000'000) {
    store.graph_launches.Append(
        {.start_ns = t + 10'000, .end_ns = t + 700'000, .process = ProcessId(0)});
  }
  const auto found = BreakDownGpu(StepInputs(store), FindSteps(store));
  ASSERT_EQ(found.size(), 1u);
  ExpectAddsUp(found[0]);
  EXPECT_EQ(Part(found[0].steps[1], GpuPart::kGraph), 690'000);
  EXPECT_EQ(Part(found[0].steps[1], GpuPart::kCompute), 9'800);
}

TEST(GpuBreakdown, IdleInPythonHasTheNamesOfFunctions) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  build.store().python_frames.Append(
      {.file = build.Text("/home/u/train.py"), .function = build.Text("log"), .line = 9});
  build.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  for (int64_t t = 0; t < 6'000'000; t += 1'000'000) {
    build.Range(main, "step", t, t + 990'000);
    build.Kernel(main, "nvjet_hsh_128", t + 10'000, t + 20'000, t + 320'000);
    build.Kernel(main, "nvjet_hsh_128", t + 800'000, t + 810'000, t + 900'000, 8);
    build.store().python_samples.Append({.start_ns = t + 330'000,
                                         .end_ns = t + 780'000,
                                         .thread = main,
                                         .python_stack = PythonStackId::At(0),
                                         .samples = 1});
  }
  const Store store = build.Build();
  const auto found = BreakDownGpu(StepInputs(store), FindSteps(store));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_GT(found[0].idle_python.all_ns, 4 * 400'000);
  EXPECT_EQ(FunctionTexts(store, found[0].idle_python, 3), "`log` (train.py:9)");
}

// One step of 1 ms and two kernels, with `main` on the CPU meanwhile: what it was in from 400 to
// 700 us explains the gap.
template <typename Fill>
int64_t IdleOf(GpuPart part, Fill&& fill) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int64_t t = 0; t < 4'000'000; t += 1'000'000) {
    build.Range(main, "step", t, t + 990'000);
    build.Kernel(main, "nvjet_hsh_128", t + 10'000, t + 20'000, t + 320'000);
    build.Kernel(main, "nvjet_hsh_128", t + 800'000, t + 810'000, t + 900'000);
    fill(build, main, t + 400'000, t + 700'000);
  }
  const Store store = build.Build();
  const auto found = BreakDownGpu(StepInputs(store), FindSteps(store));
  EXPECT_EQ(found.size(), 1u);
  ExpectAddsUp(found[0]);
  return Part(found[0].steps[1], part);
}

TEST(GpuBreakdown, AroundOperatorsTheLoopSaysWhatTheGpuWaitsFor) {
  EXPECT_EQ(IdleOf(GpuPart::kIdleModel,
                   [](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
                     build.Module(thread, "encoder", "Encoder", from, to);
                     build.Operator(thread, "aten::add", from + 100'000, from + 150'000);
                   }),
            250'000)
      << "without the operator";
  EXPECT_EQ(IdleOf(GpuPart::kIdleAutograd,
                   [](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
                     build.Phase(thread, Phase::kBackward, "backward", from, to);
                   }),
            300'000);
  EXPECT_EQ(IdleOf(GpuPart::kIdleAutograd,
                   [](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
                     const ThreadId loop = build.Thread(build.store().ProcessOf(thread));
                     build.Phase(loop, Phase::kBackward, "backward", from, to);
                   }),
            300'000)
      << "autograd launches on a thread of its own";
  EXPECT_EQ(IdleOf(GpuPart::kIdleOptimizer,
                   [](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
                     build.Phase(thread, Phase::kOptimizerStep, "AdamW.step", from, to);
                   }),
            300'000);
  EXPECT_EQ(IdleOf(GpuPart::kIdleOptimizer,
                   [](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
                     build.Phase(thread, Phase::kOptimizerStep, "LBFGS.step", from, to);
                     build.Module(thread, "encoder", "Encoder", from + 50'000, to - 50'000);
                   }),
            100'000)
      << "a closure runs the model inside of the step";
}

TEST(GpuBreakdown, OperatorsThatLaunchNothingAndComputeAreOnTensorsOfTheCpu) {
  const auto operator_of = [](const char* name, int64_t took_ns) {
    return [=](StoreBuilder& build, ThreadId thread, int64_t from, int64_t) {
      build.Operator(thread, name, from, from + took_ns);
    };
  };
  EXPECT_EQ(IdleOf(GpuPart::kIdleCpuTensors, operator_of("aten::mul_", 200'000)), 200'000);
  EXPECT_EQ(IdleOf(GpuPart::kIdleCpuTensors, operator_of("aten::mul_", 9'000)), 0);
  EXPECT_EQ(IdleOf(GpuPart::kIdleCpuTensors, operator_of("aten::view", 200'000)), 0);
  EXPECT_EQ(IdleOf(GpuPart::kIdleCpuTensors, operator_of("c10d::allreduce_", 200'000)), 0);
  EXPECT_EQ(IdleOf(GpuPart::kIdleOperators, operator_of("aten::view", 200'000)), 200'000);
  EXPECT_EQ(IdleOf(GpuPart::kIdleOperators,
                   [](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
                     build.Operator(thread, "aten::add", from + 100'000, to + 150'000);
                   }),
            300'000)
      << "it launches the kernel behind the gap";
}

TEST(GpuBreakdown, WhatAThreadSleptOnIsACauseOfItsOwn) {
  EXPECT_EQ(IdleOf(GpuPart::kIdleSystemCall,
                   [](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
                     build.store().os_calls.Append({.start_ns = from,
                                                    .end_ns = to,
                                                    .thread = thread,
                                                    .name = build.Text("pthread_mutex_lock")});
                   }),
            300'000);
  EXPECT_EQ(IdleOf(GpuPart::kIdleGil,
                   [](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
                     build.store().python_samples.Append({.start_ns = from,
                                                          .end_ns = to,
                                                          .thread = thread,
                                                          .samples = 1,
                                                          .gil = GilState::kWaits});
                   }),
            300'000);
  EXPECT_EQ(IdleOf(GpuPart::kIdleNoProcessor,
                   [](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
                     build.Operator(thread, "aten::add", from + 100'000, to);
                     CpuSwitchesTable& switches = build.store().cpu_switches;
                     switches.Append(
                         {.start_ns = from, .thread = thread, .kind = SwitchKind::kPreempted});
                     switches.Append({.start_ns = to, .thread = thread, .kind = SwitchKind::kOn});
                   }),
            300'000)
      << "also inside of an operator";
}

TEST(GpuBreakdown, SamplesTellWhatNothingElseDoes) {
  const auto sampled = [](int64_t cpu_ns, int64_t ready_ns = 0) {
    return [=](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
      build.store().python_frames.Append({.line = 1});
      build.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
      build.store().python_samples.Append({.start_ns = from,
                                           .end_ns = to,
                                           .thread = thread,
                                           .python_stack = PythonStackId::At(0),
                                           .samples = 1,
                                           .cpu_ns = cpu_ns,
                                           .ready_ns = ready_ns});
    };
  };
  EXPECT_EQ(IdleOf(GpuPart::kIdleOwnPython, sampled(290'000)), 300'000);
  EXPECT_EQ(IdleOf(GpuPart::kIdleWaiting, sampled(9'000)), 300'000) << "off the processor";
  EXPECT_EQ(IdleOf(GpuPart::kIdleNoProcessor, sampled(9'000, 200'000)), 300'000);
  EXPECT_EQ(IdleOf(GpuPart::kIdleOwnPython, sampled(100'000, 100'000)), 300'000)
      << "kept from running for some of it";
  const auto nothing = [](StoreBuilder&, ThreadId, int64_t, int64_t) {};
  EXPECT_EQ(IdleOf(GpuPart::kIdlePython, nothing), 590'000);
  const auto behind_data = [&](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
    build.Phase(thread, Phase::kDataLoaderNext, "enumerate(DataLoader)", from, from + 200'000);
    sampled(98'000)(build, thread, from, to);
  };
  EXPECT_EQ(IdleOf(GpuPart::kIdleOwnPython, behind_data), 100'000) << "ran once data had come";
  const auto behind_gpu = [&](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
    build.ApiCall(thread, "cudaStreamSynchronize_v3020", from, from + 200'000);
    sampled(98'000)(build, thread, from, to);
  };
  EXPECT_EQ(IdleOf(GpuPart::kIdleOwnPython, behind_gpu), 100'000) << "ran once the GPU was through";
}

// What the recorder does for itself is nobody's Python, in a forward neither: as it says itself, or
// by samples, innermost or where it looks at the program unseen.
TEST(GpuBreakdown, TheRecordersOwnTimeIsTold) {
  const auto says = [](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
    build.Module(thread, "model", "Net", from - 50'000, to + 50'000);
    build.Phase(thread, Phase::kLook, "look at the model", from, to);
  };
  EXPECT_EQ(IdleOf(GpuPart::kIdleRecorder, says), 300'000);
  const auto sampled = [](std::vector<std::pair<const char*, const char*>> frames) {
    return [=](StoreBuilder& build, ThreadId thread, int64_t from, int64_t to) {
      build.Module(thread, "model", "Net", from - 50'000, to + 50'000);
      PythonStackId stack;
      for (const auto& [file, function] : frames) {
        PythonFramesTable& table = build.store().python_frames;
        table.Append({.file = build.Text(file), .function = build.Text(function), .line = 1});
        build.store().python_stacks.Append(
            {.frame = PythonFrameId::At(table.size() - 1), .parent = stack});
        stack = PythonStackId::At(build.store().python_stacks.size() - 1);
      }
      build.store().python_samples.Append({.start_ns = from,
                                           .end_ns = to,
                                           .thread = thread,
                                           .python_stack = stack,
                                           .samples = 1,
                                           .cpu_ns = to - from});
    };
  };
  constexpr std::pair<const char*, const char*>
      kForward = {"/u/train.py", "Net.forward"},
      kWrapper = {"</b/batchlight/_bridge/_torch.py>", "call"},
      kUnseen = {"</b/batchlight/_bridge/_torch_unseen.py>", "unseen"},
      kTorch = {"/x/site-packages/torch/nn/m.py", "f"};
  EXPECT_EQ(IdleOf(GpuPart::kIdleRecorder, sampled({kForward, kWrapper})), 300'000);
  EXPECT_EQ(IdleOf(GpuPart::kIdleRecorder, sampled({kForward, kUnseen, kTorch})), 300'000);
  EXPECT_EQ(IdleOf(GpuPart::kIdleRecorder, sampled({kForward, kWrapper, kTorch})), 0);
}

// Four steps of 1 ms: a GEMM of 300 us, a wait for data of 400 us, an elementwise kernel.
Store FourSteps() {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = i * 1'000'000;
    build.Range(main, "step", t, t + 990'000);
    build.Kernel(main, "nvjet_hsh_128", t + 10'000, t + 20'000, t + 320'000);
    build.Phase(main, Phase::kDataLoaderNext, "enumerate(DataLoader)", t + 350'000, t + 750'000);
    build.Kernel(main, "void at::native::vectorized_elementwise_kernel<4>", t + 800'000,
                 t + 810'000, t + 900'000, 8);
  }
  return build.Build();
}

// Each step prefetches the next batch on stream 9, where it runs at once, and queues 1 ms of work
// on stream 7, which runs two steps later.
TEST(GpuBreakdown, WorkThatRunsAheadOnAnotherStreamBeginsNoWindow) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 6; ++i) {
    const int64_t t = i * 100'000;
    build.Range(main, "step", t, t + 90'000);
    build.Kernel(main, "contiguous", t + 1'000, t + 5'000, t + 6'000, 9);
    build.Kernel(main, "nvjet_hsh_128", t + 10'000, 200'000 + i * 1'000'000,
                 200'000 + (i + 1) * 1'000'000, 7);
  }
  const Store store = build.Build();
  const StepSet steps = FindSteps(store);
  const std::vector<GpuBreakdown> found = BreakDownGpu(StepInputs(store), steps);
  ASSERT_EQ(found.size(), 1u);
  ExpectAddsUp(found[0]);
  EXPECT_EQ(found[0].window.min, 1'000'000);
  EXPECT_EQ(found[0].window.max, 1'000'000);
  EXPECT_EQ(PaceOfGpuNs(found[0], *steps.Main()), 1'000'000) << "a step of the CPU takes 0.1 ms";
}

TEST(GpuBreakdown, PartsAddUpAndNameTheWait) {
  const Store store = FourSteps();
  const StepSet steps = FindSteps(store);
  const std::vector<GpuBreakdown> found = BreakDownGpu(StepInputs(store), steps);
  ASSERT_EQ(found.size(), 1u);
  ExpectAddsUp(found[0]);
  const GpuStepParts& step = found[0].steps[1];
  EXPECT_EQ(step.duration_ns(), 1'000'000);
  EXPECT_EQ(Part(step, GpuPart::kTensorCore), 300'000);
  EXPECT_EQ(Part(step, GpuPart::kCompute), 90'000);
  EXPECT_EQ(Part(step, GpuPart::kIdleDataLoading), 400'000);
  EXPECT_NEAR(found[0].busy_share, 0.39, 0.02);
}

TEST(GpuBreakdown, OverlappedCommunicationIsHidden) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = i * 1'000'000;
    build.Range(main, "step", t, t + 990'000);
    build.Kernel(main, "nvjet_hsh_128", t + 1'000, t + 10'000, t + 510'000);
    build.Kernel(main, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", t + 2'000, t + 310'000,
                 t + 710'000, 20);
  }
  const Store store = build.Build();
  const std::vector<GpuBreakdown> found = BreakDownGpu(StepInputs(store), FindSteps(store));
  ASSERT_EQ(found.size(), 1u);
  ExpectAddsUp(found[0]);
  EXPECT_EQ(Part(found[0].steps[1], GpuPart::kCommunication), 200'000);
  EXPECT_DOUBLE_EQ(found[0].overlapped_communication_ns, 200'000);
}

// What the GPU does in a step without detail is not known: the step before does not idle meanwhile.
TEST(GpuBreakdown, AStepWithoutDetailIsNobodysIdleTime) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 12; ++i) {
    const int64_t t = i * 1'000'000;
    build.Range(main, "step", t, t + 1'000'000);
    if (i != 6) build.Kernel(main, "nvjet_hsh_128", t + 10'000, t + 20'000, t + 920'000);
  }
  testing::PlainMark(build, main, false, 6'000'000, 0);
  testing::PlainMark(build, main, true, 7'000'000, 0);
  const Store store = build.Build();
  const StepSet steps = FindSteps(store);
  ASSERT_EQ(steps.Main()->steps[6].kind, StepKind::kPlain);
  const std::vector<GpuBreakdown> found = BreakDownGpu(StepInputs(store), steps);
  ASSERT_EQ(found.size(), 1u);
  ExpectAddsUp(found[0]);
  EXPECT_EQ(found[0].steps[4].duration_ns(), 1'000'000);
  EXPECT_EQ(found[0].steps[5].duration_ns(), 900'000) << "up to the end of its own work";
  EXPECT_EQ(found[0].steps[6].duration_ns(), 0);
  EXPECT_EQ(found[0].steps[7].duration_ns(), 1'000'000);
}

// Hardware counters are switched on in step 6 before it launches anything: the GPU's step before it
// does not wait for that.
TEST(GpuBreakdown, AStepThatBeginsWithOtherWorkIsNobodysIdleTime) {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId main = build.Thread(process);
  int64_t t = 0;
  for (int64_t i = 0; i < 12; ++i) {
    const int64_t switch_ns = i == 6 ? 50'000'000 : 0;
    build.Range(main, "step", t, t + switch_ns + 1'000'000);
    if (i == 6) {
      build.store().counter_ranges.Append({.start_ns = t + switch_ns,
                                           .end_ns = t + switch_ns + 1'000'000,
                                           .process = process,
                                           .kernels = 1,
                                           .switch_ns = switch_ns});
    }
    t += switch_ns;
    build.Kernel(main, "nvjet_hsh_128", t + 10'000, t + 20'000, t + 920'000);
    t += 1'000'000;
  }
  const Store store = build.Build();
  const StepSet steps = FindSteps(store);
  ASSERT_EQ(steps.Main()->steps[6].kind, StepKind::kCounted);
  const std::vector<GpuBreakdown> found = BreakDownGpu(StepInputs(store), steps);
  ASSERT_EQ(found.size(), 1u);
  ExpectAddsUp(found[0]);
  EXPECT_EQ(found[0].steps[4].duration_ns(), 1'000'000);
  EXPECT_EQ(found[0].steps[5].duration_ns(), 900'000) << "up to the end of its own work";
  EXPECT_EQ(found[0].window.max, 1'000'000);
}

TEST(GpuBreakdown, NoGpuWorkGivesNothing) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 4; ++i) build.Range(main, "step", i * 100, i * 100 + 90);
  const Store store = build.Build();
  EXPECT_TRUE(BreakDownGpu(StepInputs(store), FindSteps(store)).empty());
}

}  // namespace
}  // namespace batchlight
