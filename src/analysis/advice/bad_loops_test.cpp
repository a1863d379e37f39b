// One deliberately bad loop a rule; the same loop without its fault has no finding. The other
// rules: advice_test.cpp.
#include <gtest/gtest.h>

#include "analysis/advice/advice_text.h"
#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::kMs;
using testing::StoreBuilder;

// Steps of 10 ms one after the other.
class Steps {
 public:
  Steps() : thread_(build_.Thread(build_.Process(7, "train.py"))) {}

  // begin and end of a step
  template <typename Add>
  void Step(int64_t length_ns, Add&& add) {
    build_.Range(thread_, "step", at_ns_, at_ns_ + length_ns - 1000);
    add(at_ns_, at_ns_ + length_ns - 1000);
    at_ns_ += length_ns;
  }
  void Even(int count) {
    for (int i = 0; i < count; ++i) Step(10 * kMs, [](int64_t, int64_t) {});
  }
  void Call(Phase phase, std::string_view name, int64_t start_ns, int64_t end_ns) {
    build_.Phase(thread_, phase, name, start_ns, end_ns);
  }
  StoreBuilder& build() { return build_; }
  ThreadId thread() const { return thread_; }

  // A process that the training process started.
  void Worker(int64_t start_ns, int64_t end_ns, bool spawned = false) {
    const ProcessId worker = build_.Process(100 + workers_++, "train.py");
    ProcessesTable& processes = build_.store().processes;
    if (spawned) {
      processes.command_line[worker.row()] = build_.Text(
          "python3 -c from multiprocessing.spawn import spawn_main; spawn_main(pipe_handle=11)");
    }
    processes.parent_pid[worker.row()] = 7;
    processes.parent[worker.row()] = ProcessId::At(0);
    processes.start_ns[worker.row()] = start_ns;
    processes.end_ns[worker.row()] = end_ns;
  }
  // The whole GPU busy with convolutions and what stands around them.
  void Convolve(int count, std::string_view other, double share_of_other) {
    for (int i = 0; i < count; ++i) {
      Step(10 * kMs, [&](int64_t start, int64_t end) {
        const int64_t from = start + 20'000, to = end - 20'000;
        const auto middle = from + static_cast<int64_t>(double(to - from) * share_of_other);
        build_.Kernel(thread_, other, start + 10'000, from, middle);
        build_.Kernel(thread_, "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc",
                      start + 15'000, middle, to);
      });
    }
  }

  std::vector<Finding> Findings() {
    store_ = build_.Build();
    return BuildOverview(store_).findings;
  }

 private:
  StoreBuilder build_;
  ThreadId thread_;
  Store store_;
  int64_t at_ns_ = 0;
  uint32_t workers_ = 0;
};

// What the finding of `rule` gains, ns a step or, by `gain`, another of its gains; -1: it does not
// speak.
double GainOf(const std::vector<Finding>& findings, std::string_view rule,
              double Finding::*gain = &Finding::gain_ns) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.rule == rule; });
  return found == findings.end() ? -1 : (*found).*gain;
}

TEST(BadLoops, TheSameLoopWithoutAFaultHasNoFinding) {
  Steps steps;
  steps.Even(20);
  EXPECT_TRUE(steps.Findings().empty());
}

TEST(BadLoops, CheckpointsStall) {
  Steps steps;
  steps.Even(15);
  steps.Step(50 * kMs, [&](int64_t start, int64_t end) {
    steps.Call(Phase::kCheckpoint, "torch.save", start + 9 * kMs, end);
  });
  steps.Even(15);
  // 92 % of the save, nothing of the step around it.
  const std::vector<Finding> findings = steps.Findings();
  EXPECT_NEAR(GainOf(findings, "checkpoint-stall", &Finding::run_gain_ns), 0.92 * 41.0 * kMs,
              1.5 * kMs);
  // Steps that save are no usual ones: the share is of the loop with its saves.
  EXPECT_NEAR(GainOf(findings, "checkpoint-stall", &Finding::loop_share), 0.92 * 41 / 350, 0.01);
  const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.rule == "checkpoint-stall";
  });
  EXPECT_NE(ShortGainText(*found).find(" % of the loop"), std::string::npos)
      << ShortGainText(*found);
}

// One number everywhere: the last save, behind the last step, is one of the stage's too.
TEST(BadLoops, CheckpointsAreCountedAsTheirStageIs) {
  constexpr const char* kOwn = "/home/u/train.py";
  constexpr const char* kLightnings = "/x/site-packages/lightning/callbacks/model_checkpoint.py";
  using Code = std::pair<const char*, const char*>;  // a class of the program's may have that name
  for (const auto& [file, function] : {Code(kOwn, "ModelCheckpoint.on_batch_end"),
                                       Code(kLightnings, "ModelCheckpoint.on_train_batch_end")}) {
    Steps steps;
    StoreBuilder& build = steps.build();
    build.store().python_frames.Append(
        {.file = build.Text(file), .function = build.Text(function), .first_line = 70, .line = 77});
    build.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
    build.store().processes.end_ns[0] = 500 * kMs;
    steps.Call(Phase::kPythonStart, "python start", 0, 0);
    int64_t at_ns = 0;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 10; ++i, at_ns += 10 * kMs) steps.Step(10 * kMs, [](int64_t, int64_t) {});
      const auto save = [&](int64_t start, int64_t end) {
        steps.Call(Phase::kCheckpoint, "torch.save", start, end);
        build.store().python_samples.Append({.start_ns = start,
                                             .end_ns = end,
                                             .thread = steps.thread(),
                                             .python_stack = PythonStackId::At(0),
                                             .samples = 4});
      };
      if (round < 2) {
        steps.Step(50 * kMs, [&](int64_t start, int64_t end) { save(start + 9 * kMs, end); });
        at_ns += 50 * kMs;
      } else {
        save(at_ns, at_ns + 41 * kMs);
      }
    }
    const std::vector<Finding> findings = steps.Findings();
    const Finding* found = testing::FindRule(findings, "checkpoint-stall");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->seen.find("3 checkpoints took 41.0 ms each"), 0u) << found->seen;
    EXPECT_NEAR(found->run_gain_ns, 0.92 * 2 * 41.0 * kMs, 3 * kMs);
    EXPECT_NE(found->action.find("every 16 steps"), std::string::npos) << found->action;
    if (file == kOwn) {
      EXPECT_EQ(found->title,
                "`ModelCheckpoint.on_batch_end` (train.py:77): saving checkpoints stalls training");
    } else {
      EXPECT_EQ(found->title, "`ModelCheckpoint`: saving checkpoints stalls training");
      EXPECT_NE(found->action.find("every_n_train_steps"), std::string::npos) << found->action;
    }
  }
}

TEST(BadLoops, CompilesAgain) {
  Steps steps;
  steps.Even(15);
  steps.Step(110 * kMs, [&](int64_t start, int64_t end) {
    steps.Call(Phase::kCompile, "torch.compile", start + 10 * kMs, end);
  });
  steps.Even(15);
  EXPECT_NEAR(GainOf(steps.Findings(), "recompilation", &Finding::run_gain_ns), 100.0 * kMs,
              0.05 * kMs);
}

// What the first step compiles is no finding's, and none's share is of it.
TEST(BadLoops, TheLoopBeginsBehindTheFirstCompilation) {
  Steps steps;
  steps.Step(400 * kMs, [&](int64_t start, int64_t end) {
    steps.Call(Phase::kCompile, "torch.compile", start + 190 * kMs, end - 10 * kMs);
  });
  steps.Even(15);
  steps.Step(110 * kMs, [&](int64_t start, int64_t end) {
    steps.Call(Phase::kCompile, "torch.compile", start + 10 * kMs, end);
  });
  steps.Even(15);
  EXPECT_NEAR(GainOf(steps.Findings(), "recompilation", &Finding::loop_share), 100.0 / 410, 0.01);
}

// A number that each step changes: the first steps compile, and none of them is a steady one.
std::vector<Finding> FindingsOfCompilingSteps(int count, std::string_view name,
                                              const std::vector<std::string>& guards = {}) {
  Steps steps;
  for (size_t i = 0; i < guards.size(); ++i) {
    steps.build().Property("compile.guard." + std::to_string(i), guards[i]);
  }
  for (int i = 0; i < count; ++i) {
    steps.Step(60 * kMs, [&](int64_t start, int64_t) {
      steps.Call(Phase::kCompile, name, start + 10 * kMs, start + 50 * kMs);
    });
  }
  steps.Even(15);
  return steps.Findings();
}

TEST(BadLoops, CompilesStepAfterStepBeforeItIsSteady) {
  const std::vector<Finding> findings =
      FindingsOfCompilingSteps(8, "torch.compile#`Quantizer.forward` (train.py:30)");
  // All but the first.
  EXPECT_NEAR(GainOf(findings, "recompilation", &Finding::run_gain_ns), 7 * 40.0 * kMs, 0.05 * kMs);
  const Finding& first = findings.front();
  ASSERT_EQ(first.rule, "recompilation");
  EXPECT_EQ(first.title,
            "`Quantizer.forward` (train.py:30): torch.compile compiles it again while training");
  EXPECT_NE(first.seen.find("7 of `Quantizer.forward` (train.py:30), took 280 ms."),
            std::string::npos)
      << first.seen;
  EXPECT_NE(first.seen.find("gives up"), std::string::npos) << first.seen;
}

// A step that compiles `Net.forward` again and again, as these guards of it failed.
Finding CompiledAgainFor(const std::vector<std::string>& guards) {
  const std::vector<Finding> findings =
      FindingsOfCompilingSteps(5, "torch.compile#`Net.forward` (net.py:3)", guards);
  const Finding* found = testing::FindRule(findings, "recompilation");
  return found == nullptr ? Finding{} : *found;
}

TEST(BadLoops, TheGuardThatFailedIsNamed) {
  const std::string net = "`Net.forward` (net.py:3)\t";
  const Finding size =
      CompiledAgainFor({net + "s.steps == 0", "`Other.forward` (net.py:9)\ts.steps == 0",
                        net + "tensor 'x' size mismatch at index 1. expected 37, actual 41",
                        net + "tensor 'x' size mismatch at index 1. expected 41, actual 5"});
  EXPECT_NE(size.seen.find("The guard that failed, as in 2 of 3: tensor 'x' size mismatch at index "
                           "1. expected 37, actual 41."),
            std::string::npos)
      << size.seen;
  EXPECT_TRUE(size.why.starts_with("Dimension 1 of `x` had")) << size.why;
  EXPECT_EQ(size.patch.diff, "+torch._dynamo.mark_dynamic(x, 1)\n");

  const Finding old = CompiledAgainFor({net + "tensor 'L['x']' size mismatch at index 0. ex"});
  EXPECT_NE(old.action.find("mark_dynamic(x, 0)"), std::string::npos) << old.action;
  const Finding item = CompiledAgainFor({net + "tensor 'b['x'][0]' size mismatch at index 2. ex"});
  EXPECT_EQ(item.patch.diff, "+torch._dynamo.mark_dynamic(b['x'][0], 2)\n");

  const Finding value = CompiledAgainFor({net + "s.steps == 0"});
  EXPECT_NE(value.seen.find("The guard that failed: s.steps == 0."), std::string::npos)
      << value.seen;
  EXPECT_TRUE(value.action.starts_with("Keep a number that changes in a tensor")) << value.action;
  EXPECT_TRUE(value.patch.empty());
  EXPECT_NE(CompiledAgainFor({net + "GLOBAL_STATE changed: grad_mode"}).why.find("A setting of"),
            std::string::npos);
  EXPECT_TRUE(CompiledAgainFor({net + "tensor 'x' rank mismatch. expected 3, actual 2"})
                  .action.starts_with("Call it with what does not change"));
}

TEST(BadLoops, WithoutAGuardThatIsKnownItIsToldHowToSeeIt) {
  for (const char* odd : {"", "no function", "`Other.forward` (net.py:9)\ts.steps == 0"}) {
    const Finding found = CompiledAgainFor({odd});
    EXPECT_EQ(found.seen.find("guard"), std::string::npos) << found.seen;
    EXPECT_TRUE(found.action.starts_with("Run with TORCH_LOGS=recompiles")) << found.action;
  }
}

TEST(BadLoops, CompilesOneFunctionAfterTheOther) {
  Steps steps;
  for (const std::string_view name :
       {"torch.compile#`A.forward` (a.py:1)", "torch.compile#`B.forward` (b.py:1)",
        "torch.compile#`C.forward` (c.py:1)"}) {
    steps.Even(10);
    steps.Step(110 * kMs, [&](int64_t start, int64_t end) {
      steps.Call(Phase::kCompile, name, start + 10 * kMs, end);
    });
  }
  steps.Even(10);
  const std::vector<Finding> findings = steps.Findings();
  const Finding* found = testing::FindRule(findings, "recompilation");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "torch.compile still compiles while training");
  EXPECT_NE(found->seen.find("3 compilations after the first took 300 ms"), std::string::npos)
      << found->seen;
}

// Two graphs that the first step compiles, and a batch of another size later.
TEST(BadLoops, CompilesEachOfTwoFunctionsOnceMore) {
  Steps steps;
  const auto compile = [&] {
    steps.Step(110 * kMs, [&](int64_t start, int64_t end) {
      steps.Call(Phase::kCompile, "torch.compile#`A.forward` (a.py:1)", start, start + 50 * kMs);
      steps.Call(Phase::kCompile, "torch.compile#`B.forward` (b.py:1)", start + 50 * kMs, end);
    });
  };
  compile();
  steps.Even(20);
  compile();
  steps.Even(10);
  const std::vector<Finding> findings = steps.Findings();
  const Finding* found = testing::FindRule(findings, "recompilation");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->title.find("compiles it again"), std::string::npos) << found->title;
}

// Forward and backward, the optimizer once its state is there, a second size.
TEST(BadLoops, TheFirstStepsMayCompile) {
  EXPECT_EQ(
      GainOf(FindingsOfCompilingSteps(3, "torch.compile"), "recompilation", &Finding::run_gain_ns),
      -1);
}

TEST(BadLoops, AStepThatSavesAndValidatesIsChargedForTheSaveAlone) {
  Steps steps;
  steps.Even(15);
  steps.Step(90 * kMs, [&](int64_t start, int64_t end) {
    steps.Call(Phase::kCheckpoint, "torch.save", start + 9 * kMs, start + 29 * kMs);
    steps.Call(Phase::kValidation, "validate", start + 30 * kMs, end);
  });
  steps.Even(15);
  // The millisecond until the validation may be the file's.
  EXPECT_NEAR(GainOf(steps.Findings(), "checkpoint-stall", &Finding::run_gain_ns),
              0.92 * 21.0 * kMs, 0.6 * kMs);
}

TEST(BadLoops, EveryEpochStartsTheWorkersAgain) {
  enum class Workers { kForked, kSpawned, kNone };
  for (const Workers workers : {Workers::kForked, Workers::kSpawned, Workers::kNone}) {
    const bool starts_processes = workers != Workers::kNone;
    Steps steps;
    for (int epoch = 0; epoch < 4; ++epoch) {
      steps.Step(340 * kMs, [&](int64_t start, int64_t) {
        steps.Call(Phase::kDataLoaderInit, "DataLoader.__iter__", start, start + 30 * kMs);
        steps.Call(Phase::kDataLoaderNext, "enumerate(DataLoader)#_Multi", start + 30 * kMs,
                   start + 330 * kMs);
        if (starts_processes) {
          steps.Worker(start + kMs, start + 400 * kMs, workers == Workers::kSpawned);
        }
      });
      for (int i = 0; i < 9; ++i) {
        steps.Step(10 * kMs, [&](int64_t start, int64_t) {
          steps.Call(Phase::kDataLoaderNext, "enumerate(DataLoader)#_Multi", start, start + 1000);
        });
      }
    }
    // Until the first batch 330 ms, three times; the first start of the four stays. Without new
    // processes a long first batch is a slow batch.
    // More than a step takes: it lies beside the steps.
    const double gain_ns = GainOf(steps.Findings(), "dataloader-restart", &Finding::run_gain_ns);
    if (starts_processes) {
      EXPECT_NEAR(gain_ns, 3 * 330.0 * kMs, 2.0 * kMs);
    } else {
      EXPECT_EQ(gain_ns, -1);
    }
  }
}

TEST(BadLoops, TheLoaderOfTheStepsSaysWhetherThereAreWorkers) {
  const auto action = [](const char* training, const char* validating) {
    Steps steps;
    for (int i = 0; i < 30; ++i) {
      steps.Step(20 * kMs, [&](int64_t start, int64_t end) {
        steps.Call(Phase::kDataLoaderNext, training, start, start + 8 * kMs);
        (void)end;
      });
    }
    steps.Call(Phase::kDataLoaderNext, validating, 700 * kMs, 900 * kMs);
    const std::vector<Finding> findings = steps.Findings();
    const Finding* found = testing::FindRule(findings, "dataloader-wait");
    return found == nullptr ? std::string("none") : found->seen;
  };
  constexpr char kSingle[] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  constexpr char kMulti[] = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  EXPECT_NE(action(kSingle, kMulti).find("num_workers=0"), std::string::npos);
  EXPECT_EQ(action(kMulti, kSingle).find("num_workers=0"), std::string::npos);
  EXPECT_NE(action(kMulti, kSingle), "none");
}

// Steps of 10 ms that copy for 1 ms while nothing else runs.
std::vector<Finding> FindingsOfCopies(CopyKind kind, MemoryKind from, MemoryKind to) {
  Steps steps;
  for (int i = 0; i < 20; ++i) {
    steps.Step(10 * kMs, [&](int64_t start, int64_t end) {
      steps.build().Copy(steps.thread(), kind, from, to, 20'000'000, start + 10'000, start + 20'000,
                         start + 20'000 + kMs);
      steps.build().Kernel(steps.thread(), "nvjet_hsh_128", start + 40'000, start + 30'000 + kMs,
                           end);
    });
  }
  return steps.Findings();
}

TEST(BadLoops, CopiesThatNothingHides) {
  const auto batches =
      FindingsOfCopies(CopyKind::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice);
  EXPECT_NEAR(GainOf(batches, "exposed-copies"), 0.8 * kMs, 0.1 * kMs);
  const std::string& patch = testing::FindRule(batches, "exposed-copies")->patch.diff;
  EXPECT_NE(patch.find("+for x in copied_ahead(loader):"), std::string::npos) << patch;
  // No batch: what the GPU made, which no loader brings.
  const auto results =
      FindingsOfCopies(CopyKind::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPinned);
  const Finding* found = testing::FindRule(results, "exposed-copies");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->action.find("next batch"), std::string::npos) << found->action;
  EXPECT_TRUE(found->patch.empty());
}

TEST(BadLoops, ConvolutionsInTheWrongLayout) {
  Steps steps;
  steps.Convolve(20, "void cudnn::engines_precompiled::nchwToNhwcKernel<float>", 0.1);
  // 90 % of the conversions; what the convolutions gain is not known.
  EXPECT_NEAR(GainOf(steps.Findings(), "channels-last"), 0.1 * 0.9 * 10 * kMs, 0.1 * kMs);
}

TEST(BadLoops, NormsAndDepthwiseConvolutionsInTheWrongLayout) {
  Steps slow, fast;
  slow.Convolve(20, "void at::native::batch_norm_backward_kernel<c10::BFloat16, float>", 0.4);
  fast.Convolve(20, "void at::native::batch_norm_backward_elemt_channels_last_kernel<4>", 0.4);
  EXPECT_NEAR(GainOf(slow.Findings(), "channels-last"), 0.4 * 0.65 * 10 * kMs, 0.1 * kMs);
  EXPECT_EQ(GainOf(fast.Findings(), "channels-last"), -1);
  Steps depthwise;
  depthwise.Convolve(20, "void at::native::conv_depthwise2d_backward_kernel<3, 2>", 0.4);
  EXPECT_NEAR(GainOf(depthwise.Findings(), "channels-last"), 0.4 * 0.65 * 10 * kMs, 0.1 * kMs);
}

TEST(BadLoops, NoPromiseWhereCudnnRepacksGroupedConvolutions) {
  Steps steps;
  for (int i = 0; i < 20; ++i) {
    steps.Step(10 * kMs, [&](int64_t start, int64_t end) {
      const int64_t half = start + 5 * kMs;
      steps.build().Kernel(steps.thread(), "void at::native::batch_norm_backward_kernel<float>",
                           start, start + 10'000, half);
      steps.build().Kernel(steps.thread(), "void tensorTransformGeneric<float, float>",
                           start + 1'000, half, half + kMs);
      steps.build().Kernel(steps.thread(), "sm90_xmma_fprop_implicit_gemm_nhwckrsc_nhwc",
                           start + 2'000, half + kMs, end);
    });
  }
  EXPECT_EQ(GainOf(steps.Findings(), "channels-last"), 0);  // said, without an estimate
}

TEST(BadLoops, ConvolutionsThatNobodyTimed) {
  Steps steps, timed;
  steps.build().Property("torch.cudnn_benchmark", "False");
  timed.build().Property("torch.cudnn_benchmark", "True");
  steps.Convolve(20, "elementwise_kernel", 0.5);
  timed.Convolve(20, "elementwise_kernel", 0.5);
  EXPECT_EQ(GainOf(steps.Findings(), "cudnn-benchmark-off"), 0);  // no estimate can be made
  EXPECT_EQ(GainOf(timed.Findings(), "cudnn-benchmark-off"), -1);
}

TEST(BadLoops, GridsThatLeaveMultiprocessorsFree) {
  for (const uint32_t blocks : {20u, 2000u}) {
    Steps steps;
    Store& store = steps.build().store();
    store.gpus.Append({.sm_count = 132,
                       .max_threads_per_sm = 2048,
                       .max_blocks_per_sm = 32,
                       .max_registers_per_sm = 65'536,
                       .max_shared_bytes_per_sm = 228 * 1024,
                       .warp_threads = 32});
    store.kernel_launches.Append(
        {.grid_x = blocks, .grid_y = 1, .grid_z = 1, .block_x = 256, .block_y = 1, .block_z = 1});
    steps.Convolve(20, "elementwise_kernel", 0.5);
    for (KernelLaunchId& launch : store.kernels.launch) launch = KernelLaunchId::At(0);
    EXPECT_EQ(GainOf(steps.Findings(), "grid-too-small"), blocks < 132 ? 0 : -1) << blocks;
  }
}

TEST(BadLoops, ASmallPartOfTheMemoryAndAnIdleGpu) {
  for (const std::string_view reserved : {"10000000000", "90000000000"}) {
    Steps steps;
    steps.build().Property("torch.gpu_memory_bytes", "150000000000");
    steps.build().Property("torch.peak_reserved_bytes", reserved);
    for (int i = 0; i < 20; ++i) {
      steps.Step(10 * kMs, [&](int64_t start, int64_t) {
        steps.build().Kernel(steps.thread(), "nvjet_hsh_128", start + 1000, start + 20'000,
                             start + 5 * kMs);
      });
    }
    EXPECT_EQ(GainOf(steps.Findings(), "memory-underused"), reserved[0] == '1' ? 0 : -1);
  }
}

TEST(BadLoops, WithoutSteps) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Range(thread, "load the data", 0, kMs);
  const Store store = build.Build();
  EXPECT_EQ(GainOf(BuildOverview(store).findings, "no-steps"), 0);
}

}  // namespace
}  // namespace batchlight
