#include "analysis/advice/advice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "analysis/overview/run_overview.h"
#include "analysis/testing/findings.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// A loop of 20 steps of 10 ms; each case adds what a step holds.
class Loop {
 public:
  Loop() : thread_(build_.Thread(build_.Process(7, "train.py"))) {}

  template <typename AddStep>
  std::vector<Finding> Run(AddStep&& add) {
    for (int64_t i = 0; i < 20; ++i) {
      build_.Range(thread_, "step", i * 10 * kMs, i * 10 * kMs + 10 * kMs - 1000);
      add(build_, thread_, i * 10 * kMs);
    }
    store_ = build_.Build();
    for (auto& edit : edits_) edit(store_);
    overview_ = BuildOverview(store_);
    return overview_.findings;
  }
  void Edit(std::function<void(Store&)> edit) { edits_.push_back(std::move(edit)); }
  StoreBuilder& build() { return build_; }

 private:
  StoreBuilder build_;
  ThreadId thread_;
  Store store_;
  RunOverview overview_;
  std::vector<std::function<void(Store&)>> edits_;
};

std::set<std::string_view> Rules(const std::vector<Finding>& findings) {
  std::set<std::string_view> rules;
  for (const Finding& finding : findings) rules.insert(finding.rule);
  return rules;
}

void AddBusyGpu(StoreBuilder& build, ThreadId thread, int64_t t) {
  build.Kernel(thread, "nvjet_hsh_128", t + 10'000, t + 30'000, t + 10 * kMs - 10'000);
}

TEST(Advice, WellTunedLoopHasNone) { EXPECT_TRUE(Loop().Run(AddBusyGpu).empty()); }

TEST(Advice, CpuLoopThatWaitsForData) {
  const auto findings = Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Phase(thread, Phase::kDataLoaderNext,
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t + 1000,
                t + 4 * kMs);
  });
  ASSERT_EQ(Rules(findings), std::set<std::string_view>{"dataloader-wait"});
  // Half a millisecond stays: a worker's batch has to be received.
  EXPECT_NEAR(findings[0].gain_ns, 3.5 * kMs * 0.85, 0.1 * kMs);
  EXPECT_NE(findings[0].action.find("num_workers"), std::string::npos);
  EXPECT_NE(findings[0].action.find(" `batchlight probe loader train.py ARGS` tells"),
            std::string::npos)
      << findings[0].action;
  EXPECT_EQ(findings[0].action.find("probe storage"), std::string::npos) << "no files recorded";
}

TEST(Advice, DataThatComesFromFilesNamesTheirFolder) {
  Loop loop;
  StoreBuilder& files = loop.build();
  files.store().os_files.Append({.start_ns = 1,
                                 .end_ns = 2,
                                 .process = ProcessId::At(0),
                                 .file = files.Text("/data/train/0.jpg"),
                                 .reads = 1,
                                 .bytes_read = 50'000});
  const auto findings = loop.Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Phase(thread, Phase::kDataLoaderNext,
                "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", t + 1000,
                t + 4 * kMs);
  });
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].action.find("; `batchlight probe storage /data/train --for RUN` says"),
            std::string::npos)
      << findings[0].action;
}

// With one free processor a worker and the loop take turns: 2.5 ms for each batch of the two.
TEST(Advice, WorkersThatCostMoreThanTheyLoadAreNotAdvised) {
  for (const bool many_processors : {true, false}) {
    Loop loop;
    loop.build().Property("machine.cores", many_processors ? "16" : "2");
    loop.build().Property("torch.threads", "1");
    const auto findings = loop.Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
      for (const int64_t at : {t + 1000, t + 3 * kMs}) {
        build.Phase(thread, Phase::kDataLoaderNext,
                    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at,
                    at + 2 * kMs);
      }
    });
    if (many_processors) {
      ASSERT_EQ(findings.size(), 1u);
      EXPECT_NEAR(findings[0].gain_ns, (4 - 2 * 0.5) * 0.85 * kMs, 0.1 * kMs);
    } else {
      EXPECT_TRUE(findings.empty());
    }
  }
}

// 25 MB a step: workers would hand them over through one thread that pins, for 7.4 ms of each step.
TEST(Advice, LargePinnedBatchesMayGainNothingFromWorkers) {
  const auto findings = Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Phase(thread, Phase::kDataLoaderNext,
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t + 1000,
                t + 5 * kMs);
    build.Copy(thread, CopyKind::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice,
               25'000'000, t + 5 * kMs, t + 5 * kMs + 1000, t + 5 * kMs + 500'000);
    build.Kernel(thread, "nvjet_hsh_128", t + 5 * kMs + 5'000, t + 5 * kMs + 500'000,
                 t + 10 * kMs - 2000);
  });
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& f) { return f.rule == "dataloader-wait"; });
  ASSERT_NE(found, findings.end());
  EXPECT_NEAR(found->gain_ns, 10 * kMs - 25e6 / 3.4, 0.1 * kMs);
  EXPECT_EQ(found->uncertainty_ns, found->gain_ns);
  EXPECT_NE(found->seen.find("25.0 MB"), std::string::npos) << found->seen;
}

// When the kernel of an operator is launched and runs, from the operator's start, ns.
struct KernelTimes {
  int64_t launch, start, end;
};

// 200 operators of 40 us from `t` on, one every 45 us, with a kernel each.
void SmallOperators(StoreBuilder& build, ThreadId thread, int64_t t, KernelTimes kernel) {
  for (int64_t k = 0; k < 200; ++k) {
    const int64_t at = t + k * 45'000;
    build.Operator(thread, "aten::add", at, at + 40'000);
    build.Kernel(thread, "vectorized_elementwise_kernel", at + kernel.launch, at + kernel.start,
                 at + kernel.end);
  }
}

TEST(Advice, HiddenDataLoadingIsFine) {
  const auto findings = Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    AddBusyGpu(build, thread, t);
    build.Phase(thread, Phase::kDataLoaderNext, "enumerate(DataLoader)", t + 5 * kMs, t + 9 * kMs);
  });
  EXPECT_TRUE(findings.empty()) << findings[0].rule;
}

TEST(Advice, LaunchBoundLoop) {
  const auto findings = Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    SmallOperators(build, thread, t, {.launch = 30'000, .start = 36'000, .end = 38'000});
  });
  const auto rules = Rules(findings);
  EXPECT_TRUE(rules.contains("launch-bound"));
  EXPECT_FALSE(rules.contains("small-kernels"));  // launch-bound counts them
  // "The GPU idles" is no cause: it stands below every one.
  bool below = false;
  for (const Finding& finding : findings) {
    below |= finding.rule == "gpu-underused";
    EXPECT_FALSE(below && finding.kind == FindingKind::kCause) << finding.rule;
  }
  EXPECT_TRUE(below);
  EXPECT_GT(findings[0].gain_ns, 5 * kMs);
  EXPECT_NE(findings[0].action.find("fuse operators with torch.compile"), std::string::npos);
}

TEST(Advice, AGraphCannotHoldWhatWaitsForTheGpuInForward) {
  for (const bool waits : {false, true}) {
    const auto findings = Loop().Run([&](StoreBuilder& build, ThreadId thread, int64_t t) {
      build.Module(thread, "Model", "Model", t, t + 9 * kMs + 500'000);
      SmallOperators(build, thread, t, {.launch = 30'000, .start = 36'000, .end = 38'000});
      build.Operator(thread, "aten::nonzero", t + 1'000, t + 10'000);
      if (waits) build.ApiCall(thread, "cudaStreamSynchronize", t + 2'000, t + 8'000);
    });
    const Finding* found = FindRule(findings, "launch-bound");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->action.find("A CUDA graph cannot hold") == 0, waits) << found->action;
    EXPECT_EQ(found->patch.empty(), waits);
  }
}

// Each recorded operator costs 20 us more than one that is not: without that the GPU is the limit.
TEST(Advice, WhatOnlyTheRecordingSlowsDownIsNotBoundByLaunches) {
  const auto findings = Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Property("cost.range_ns", "50.0");
    build.Property("cost.operator_ns", "20000.0");
    SmallOperators(build, thread, t, {.launch = 2'000, .start = 6'000, .end = 32'000});
  });
  EXPECT_FALSE(Rules(findings).contains("launch-bound"));
}

// Averages of weights, one by one behind the step: no graph of the model launches them.
TEST(Advice, WhatTheLoopLaunchesBesideTheModelIsNotTheModels) {
  const auto findings = Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Module(thread, "Model", "Model", t, t + kMs);
    SmallOperators(build, thread, t, {.launch = 30'000, .start = 36'000, .end = 38'000});
  });
  EXPECT_FALSE(Rules(findings).contains("launch-bound"));
}

// Gradients that are summed up over ranks without the GPU: the CPU is inside backward and waits.
TEST(Advice, ABackwardThatWaitsIsNotBoundByLaunches) {
  const auto findings = Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Phase(thread, Phase::kBackward, "backward", t + kMs / 2, t + 9 * kMs);
    for (const int64_t at : {t + kMs / 2, t + 8 * kMs}) {
      build.Operator(thread, "aten::mm", at, at + kMs / 2);
      build.Kernel(thread, "nvjet_hsh_128", at + 1'000, at + 5'000, at + kMs / 2);
    }
  });
  EXPECT_FALSE(Rules(findings).contains("launch-bound"));
}

// All is launched in the first millisecond, and the GPU pauses three times for 2 ms.
TEST(Advice, AGpuThatPausesWithWorkInItsQueueIsShared) {
  const auto findings = Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t start_ns = t + 10'000 + k * 3 * kMs;
      build.Kernel(thread, "nvjet_hsh_128", t + k * 100'000, start_ns, start_ns + kMs - 20'000);
    }
  });
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& f) { return f.rule == "gpu-shared"; });
  ASSERT_NE(found, findings.end());
  EXPECT_NEAR(found->evidence[0].per_step_ns, 6 * kMs, 0.1 * kMs);
  EXPECT_FALSE(Rules(findings).contains("launch-bound"));
}

TEST(Advice, ACompiledLoopIsNotToldToCompile) {
  const auto findings = Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Module(thread, "OptimizedModule", "OptimizedModule", t, t + 9 * kMs);
    for (int64_t k = 0; k < 200; ++k) {
      const int64_t at = t + k * 45'000;
      build.Operator(thread, "aten::add", at, at + 40'000);
      build.Kernel(thread, "elemWiseRNNcell", at + 30'000, at + 36'000, at + 38'000);
    }
  });
  const auto rules = Rules(findings);
  ASSERT_TRUE(rules.contains("launch-bound"));
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.action.find("fuse operators with torch.compile"), std::string::npos);
    EXPECT_EQ(finding.action.find("torch.compile(model),"), std::string::npos);
  }
}

// 200 operators of 45 us with products of 20 us: faster ones only make the GPU wait longer, as long
// as the CPU never waits for it.
TEST(Advice, FasterKernelsGainNothingWhereTheCpuIsTheLimit) {
  for (const int64_t wait_ns : {int64_t{0}, 2 * kMs}) {
    Loop loop;
    loop.Edit([](Store& store) { store.gpus.Append({.compute_major = 9}); });
    const auto findings = loop.Run([&](StoreBuilder& build, ThreadId thread, int64_t t) {
      for (int64_t k = 0; k < 160; ++k) {
        const int64_t at = t + k * 45'000;
        build.Operator(thread, "aten::mm", at, at + 40'000);
        build.Kernel(thread, "ampere_sgemm_128x64_tn", at + 15'000, at + 20'000, at + 40'000);
      }
      if (wait_ns == 0) return;
      const int64_t from = t + 160 * 45'000;
      build.Kernel(thread, "ampere_sgemm_128x64_tn", from, from + 5'000, from + wait_ns);
      build.ApiCall(thread, "cudaStreamSynchronize_v3020", from + 1'000, from + wait_ns);
    });
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [](const Finding& f) { return f.rule == "tf32-off"; });
    if (wait_ns == 0) {
      EXPECT_EQ(found, findings.end());
      EXPECT_TRUE(Rules(findings).contains("launch-bound"));
    } else {
      ASSERT_NE(found, findings.end());
      EXPECT_NEAR(found->gain_ns, double(wait_ns), 0.1 * kMs);
    }
  }
}

// One step in which the CPU waits for the first of two kernels; `around` adds what it waits in.
template <typename Around>
std::vector<Finding> FindingsOfWait(Around&& around) {
  Loop loop;
  return loop.Run([&](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Kernel(thread, "nvjet_hsh_128", t + 10'000, t + 30'000, t + 6 * kMs);
    around(build, thread, t + 100'000, t + 6 * kMs + 20'000);
    build.store().api_calls.Append({.start_ns = t + 110'000,
                                    .end_ns = t + 6 * kMs + 10'000,
                                    .thread = thread,
                                    .name = build.Text("cudaStreamSynchronize_v3020")});
    build.Kernel(thread, "nvjet_hsh_128", t + 7 * kMs, t + 7 * kMs + 20'000, t + 9 * kMs);
  });
}

std::string SeenBy(const std::vector<Finding>& findings, std::string_view rule) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.rule == rule; });
  return found == findings.end() ? "" : found->seen;
}

TEST(Advice, HostSynchronizationNamesTheOperator) {
  const auto findings = FindingsOfWait([](auto& build, ThreadId thread, int64_t from, int64_t to) {
    build.Operator(thread, "aten::_local_scalar_dense", from, to);
  });
  EXPECT_NE(SeenBy(findings, "host-sync").find(".item()"), std::string::npos);
}

TEST(Advice, HostSynchronizationOutsideOfOperatorsNamesTheRange) {
  const auto findings = FindingsOfWait([](auto& build, ThreadId thread, int64_t from, int64_t to) {
    build.Range(thread, "log the loss", from, to);
  });
  const std::string seen = SeenBy(findings, "host-sync");
  EXPECT_NE(seen.find("most often cudaStreamSynchronize in range log the loss."), std::string::npos)
      << seen;
}

// The CPU launches eight steps in a moment and then waits in the launch for the GPU, which is busy
// throughout: its steps are even.
TEST(Advice, ACpuThatRunsAheadOfTheGpuIsNotUneven) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t length = i < 12 ? kMs / 10 : 10 * kMs;
    build.Range(thread, "step", t, t + length - 1000);
    build.Kernel(thread, "nvjet_hsh_128", t + 10'000, (20 + i * 10) * kMs, (30 + i * 10) * kMs);
    t += length;
  }
  const Store store = build.Build();
  EXPECT_FALSE(Rules(BuildOverview(store).findings).contains("uneven-steps"));
}

TEST(Advice, AnOptimizerBeforeTheStepsThatCountIsNoFinding) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  const auto optimizer = [&](int64_t at) {
    build.Phase(thread, Phase::kOptimizerStep, "AdamW.step", at, at + kMs);
    for (int64_t k = 0; k < 150; ++k) {
      build.Kernel(thread, "vectorized_elementwise_kernel", at + k * 6'000, at + 2000 + k * 6'000,
                   at + 6000 + k * 6'000);
    }
  };
  build.Phase(thread, Phase::kDataLoaderNext, "DataLoader", 0, 1000);
  optimizer(kMs);
  optimizer(2 * kMs);
  build.ApiCall(thread, "cudaGraphInstantiate_v12000", 4 * kMs, 5 * kMs);
  for (int64_t i = 1; i < 20; ++i) {
    build.Phase(thread, Phase::kDataLoaderNext, "DataLoader", i * 10 * kMs, i * 10 * kMs + 1000);
    build.ApiCall(thread, "cudaGraphLaunch_v10000", i * 10 * kMs + 2000, i * 10 * kMs + 9000);
    build.Kernel(thread, "nvjet_hsh_128", i * 10 * kMs + 10'000, i * 10 * kMs + 12'000,
                 (i + 1) * 10 * kMs);
  }
  const Store store = build.Build();
  const RunOverview overview = BuildOverview(store);
  ASSERT_EQ(overview.steps.Main()->steps.front().kind, StepKind::kGraphCapture);
  EXPECT_FALSE(Rules(overview.findings).contains("unfused-optimizer"));
}

// A copy of 1 ms beside each kernel of a busy GPU.
std::vector<Finding> FindingsOfCopies(CopyKind kind, MemoryKind source, MemoryKind destination) {
  Loop loop;
  loop.Edit([=](Store& store) {
    for (size_t i = 0; i < store.kernels.size(); ++i) {
      store.memcpys.Append({.start_ns = store.kernels.start_ns[i],
                            .end_ns = store.kernels.start_ns[i] + kMs,
                            .process = store.kernels.process[i],
                            .bytes = 4 << 20,
                            .copy_kind = kind,
                            .source_kind = source,
                            .destination_kind = destination,
                            .api_call = store.kernels.api_call[i]});
    }
  });
  return loop.Run(AddBusyGpu);
}

TEST(Advice, PageableCopies) {
  const auto of_batch =
      FindingsOfCopies(CopyKind::kHostToDevice, MemoryKind::kPageable, MemoryKind::kDevice);
  const Finding* found = FindRule(of_batch, "pageable-copy");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->action.find("DataLoader(..., pin_memory=True)"), std::string::npos);
  EXPECT_EQ(
      FindRule(FindingsOfCopies(CopyKind::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice),
               "pageable-copy"),
      nullptr);
}

// An average of weights on the CPU: no loader is to blame.
TEST(Advice, CopiesToTheCpuAreNoBatches) {
  const auto findings =
      FindingsOfCopies(CopyKind::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPageable);
  const Finding* found = FindRule(findings, "pageable-copy");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Tensors are copied to pageable memory of the CPU");
  EXPECT_EQ(found->action.find("DataLoader"), std::string::npos);
  EXPECT_TRUE(found->patch.diff.empty());
}

TEST(Advice, Fp32ProductsOnAGpuWithTensorCores) {
  Loop loop;
  loop.Edit([](Store& store) { store.gpus.Append({.compute_major = 9}); });
  const auto findings = loop.Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Kernel(thread, "ampere_sgemm_128x64_tn", t + 10'000, t + 30'000, t + 10 * kMs - 10'000);
  });
  ASSERT_EQ(Rules(findings), (std::set<std::string_view>{"tf32-off", "amp-off"}));
  // Both are the gain of the same products: the smaller says so.
  EXPECT_TRUE(findings[0].same_time_as.empty());
  EXPECT_EQ(findings[1].same_time_as, std::vector<std::string_view>{findings[0].rule});
}

// In 16 bits attention is another algorithm, products of odd sizes stay slow.
TEST(Advice, WhatMixedPrecisionGains) {
  const auto gain = [](std::string_view other) {
    Loop loop;
    loop.Edit([](Store& store) { store.gpus.Append({.compute_major = 9}); });
    const auto findings = loop.Run([&](StoreBuilder& build, ThreadId thread, int64_t t) {
      const int64_t end = t + 10 * kMs - 10'000;
      build.Kernel(thread, "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32", t + 10'000,
                   t + 30'000, t + 5 * kMs);
      build.Kernel(thread, other, t + 20'000, t + 5 * kMs, end);
    });
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [](const Finding& f) { return f.rule == "amp-off"; });
    return found == findings.end() ? -1.0 : found->gain_ns / kMs;
  };
  EXPECT_NEAR(gain("vectorized_elementwise_kernel"), 2.5, 0.1);
  EXPECT_NEAR(gain("cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align1>"), 2.5, 0.1);
  EXPECT_NEAR(gain("fmha_cutlassB_f32_aligned_64x64_k64_sm80(AttentionBackwardKernel)"), 6.7, 0.2);
}

// All of the kernel time, but the GPU works for 20 us of 10 ms: nobody would see the difference.
TEST(Advice, GainsTooSmallToSeeAreNoFindings) {
  Loop loop;
  loop.Edit([](Store& store) { store.gpus.Append({.compute_major = 9}); });
  const auto rules = Rules(loop.Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Kernel(thread, "ampere_sgemm_128x64_tn", t + 10'000, t + 30'000, t + 50'000);
  }));
  EXPECT_FALSE(rules.contains("tf32-off"));
  EXPECT_FALSE(rules.contains("amp-off"));
}

// What compilation and autotuning launch before the steady steps says nothing about a step.
TEST(Advice, KernelsBeforeTheLoopDoNotCount) {
  Loop loop;
  loop.Edit([](Store& store) { store.gpus.Append({.compute_major = 9}); });
  const ThreadId other = loop.build().Thread(loop.build().Process(8, "search.py"));
  loop.build().Kernel(other, "ampere_sgemm_128x64_tn", 0, 10'000, 500 * kMs);
  const auto rules = Rules(loop.Run(AddBusyGpu));
  EXPECT_FALSE(rules.contains("tf32-off"));
  EXPECT_FALSE(rules.contains("amp-off"));
}

// An odd vocabulary in bf16: a size to pad, but no reason to ask for mixed precision.
TEST(Advice, ProductsOfOddSizes) {
  Loop loop;
  loop.Edit([](Store& store) { store.gpus.Append({.compute_major = 9}); });
  const auto rules = Rules(loop.Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Kernel(thread,
                 "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1>",
                 t + 10'000, t + 30'000, t + 10 * kMs - 10'000);
  }));
  EXPECT_EQ(rules, std::set<std::string_view>{"unaligned-products"});
}

TEST(Advice, OperatorsThatPassOverMemory) {
  const auto add = [](std::string_view more) {
    return [more](StoreBuilder& build, ThreadId thread, int64_t t) {
      for (int64_t i = 0; i < 30; ++i) {
        const int64_t at = t + 20'000 + i * 330'000;
        build.Kernel(thread, i == 0 && !more.empty() ? more : "vectorized_elementwise_kernel",
                     t + 10'000 + i, at, at + 325'000);
      }
    };
  };
  EXPECT_EQ(Rules(Loop().Run(add(""))), std::set<std::string_view>{"unfused-pointwise"});
  EXPECT_TRUE(Loop().Run(add("triton_poi_fused_add_0")).empty());  // compiled already
}

// Eight streams of products in a step of 10 ms take 80 ms of kernel time: no change gains more than
// the step.
TEST(Advice, KernelsBesideEachOtherShareTheTime) {
  Loop loop;
  loop.Edit([](Store& store) { store.gpus.Append({.compute_major = 9}); });
  const auto findings = loop.Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    for (uint32_t stream = 1; stream <= 8; ++stream) {
      build.Kernel(thread, "ampere_sgemm_128x64_tn", t + 10'000, t + 30'000, t + 10 * kMs - 10'000,
                   stream);
    }
  });
  ASSERT_FALSE(findings.empty());
  EXPECT_LT(findings[0].gain_ns, 10 * kMs);
}

TEST(Advice, HelperProcessesHaveSettingsOfTheirOwn) {
  Loop loop;
  const ProcessId worker = loop.build().Process(9, "compile_worker.py");
  loop.build().Property("torch.anomaly_detection", "True", worker);
  EXPECT_FALSE(Rules(loop.Run(AddBusyGpu)).contains("anomaly-detection"));
}

void AddAllocations(Store& store, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; ++i) {
    store.api_calls.Append({.start_ns = i * 10 * kMs + kMs,
                            .end_ns = i * 10 * kMs + 3 * kMs,
                            .thread = ThreadId::At(0),
                            .name = store.strings.Intern("cudaMalloc_v3020")});
  }
}

TEST(Advice, AllocationsThatEndWithTheFirstStepsAreWarmUp) {
  Loop first, all;
  first.Edit([](Store& store) { AddAllocations(store, 0, 8); });
  all.Edit([](Store& store) { AddAllocations(store, 0, 20); });
  EXPECT_FALSE(Rules(first.Run(AddBusyGpu)).contains("allocator-retries"));
  const auto findings = all.Run(AddBusyGpu);
  ASSERT_TRUE(Rules(findings).contains("allocator-retries"));
  EXPECT_NEAR(findings[0].gain_ns, 2 * kMs, 0.3 * kMs);
}

TEST(Advice, ExposedCommunication) {
  const auto rules = Rules(Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    build.Kernel(thread, "nvjet_hsh_128", t + 10'000, t + 30'000, t + 8 * kMs);
    build.Kernel(thread, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", t + 20'000, t + 7 * kMs,
                 t + 10 * kMs - 10'000, 20);
  }));
  EXPECT_TRUE(rules.contains("exposed-communication"));
}

TEST(Advice, SettingsThatHurt) {
  Loop loop;
  loop.build().Property("environment.CUDA_LAUNCH_BLOCKING", "1");
  loop.build().Property("torch.anomaly_detection", "True");
  loop.build().Property("torch.threads", "16");
  loop.build().Property("machine.cores", "4");
  const auto rules = Rules(loop.Run(AddBusyGpu));
  EXPECT_TRUE(rules.contains("launch-blocking"));
  EXPECT_TRUE(rules.contains("anomaly-detection"));
  EXPECT_TRUE(rules.contains("too-many-threads"));
}

TEST(Advice, RulesAreNamedOnce) {
  std::set<std::string_view> ids;
  for (const AdviceRule& rule : AdviceRules()) EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
}

TEST(Advice, EveryFindingSaysWhatWhyAndHow) {
  const auto findings = Loop().Run([](StoreBuilder& build, ThreadId thread, int64_t t) {
    for (int64_t k = 0; k < 150; ++k) {
      build.Kernel(thread, "elementwise_kernel", t + k * 60'000, t + k * 60'000 + 10'000,
                   t + k * 60'000 + 12'000);
    }
  });
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.title.empty() || finding.seen.empty() || finding.why.empty() ||
                 finding.action.empty())
        << finding.rule;
    EXPECT_LE(finding.uncertainty_ns, 10 * kMs);
  }
}

}  // namespace
}  // namespace batchlight
