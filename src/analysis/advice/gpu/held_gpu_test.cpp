// A function beside the model that leaves the GPU without work, and what is none.
#include <gtest/gtest.h>

#include <string_view>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

constexpr int64_t kStepNs = 20 * kMs;
constexpr int64_t kUs = 1000;
constexpr int64_t kSteps = 20;
// No work ends the idle time behind the last step.
constexpr double kWithIdle = double(kSteps - 1) / kSteps;

struct HeldCase {
  bool other_wait = false;                     // the loop reads the loss in every step
  bool sleeps = false;                         // in the function
  bool outruns = false;                        // the GPU works until the function is through
  bool only_copies = false;                    // nearly all the time
  int small_operators = 0;                     // that the function launches
  std::string_view file = "/home/u/train.py";  // of the function
  bool waits_first = false;                    // in another line of it, until 14 ms
  bool in_helper = false;                      // that the function calls
  bool in_loop = false;                        // there is no function: `train` does it
  bool in_optimizer = false;                   // it is called in the optimizer's step
  bool fused = false;                          // the optimizer is
};

// Steps of 20 ms: 5 ms in which the model is launched, whose kernels run until 10 ms, and 15 ms in
// `update`, which `train` calls: a copy to the CPU until 12 ms, then Python.
class HeldLoop {
 public:
  explicit HeldLoop(const HeldCase& what) : what_(what) {
    train_ = Frame("/home/u/train.py", "train", 70, {});
    update_ = Frame(what.file, "Averages.update", 128, train_);
    helper_ = Frame(what.file, "mean_of", 99, update_);
    wait_ = Frame(what.file, "Averages.update", 120, train_);
    thread_ = build_.Thread(build_.Process(7, "train.py"));
  }

  std::vector<Finding> Run() {
    for (int64_t i = 0; i < kSteps; ++i) AddStep(i * kStepNs);
    const Store store = build_.Build();
    overview_ = BuildOverview(store);
    return overview_.findings;
  }

 private:
  PythonStackId Frame(std::string_view file, const char* function, uint32_t line,
                      PythonStackId parent) {
    Store& store = build_.store();
    store.python_frames.Append({.file = build_.Text(file),
                                .function = build_.Text(function),
                                .first_line = 1,
                                .line = line});
    store.python_stacks.Append(
        {.frame = PythonFrameId::At(store.python_frames.size() - 1), .parent = parent});
    return PythonStackId::At(store.python_stacks.size() - 1);
  }

  void Looks(PythonStackId stack, int64_t from_ns, int64_t to_ns, int64_t cpu_ns) {
    build_.store().python_samples.Append({.start_ns = from_ns,
                                          .end_ns = to_ns,
                                          .thread = thread_,
                                          .python_stack = stack,
                                          .samples = uint32_t((to_ns - from_ns) / kMs),
                                          .cpu_ns = cpu_ns});
  }

  void AddModel(int64_t t) {
    build_.Module(thread_, "Model", "Model", t, t + 2 * kMs);
    build_.Kernel(thread_, "nvjet_hsh_128", t + 500 * kUs, t + 510 * kUs, t + 5 * kMs);
    build_.Phase(thread_, Phase::kBackward, "backward", t + 2 * kMs, t + 4 * kMs);
    build_.Kernel(thread_, "nvjet_hsh_128", t + 3 * kMs, t + 5 * kMs, t + 9 * kMs);
    build_.Phase(thread_, Phase::kOptimizerStep, "AdamW.step", t + 4 * kMs,
                 t + (what_.in_optimizer ? kStepNs - 2 * kUs : 5 * kMs));
    if (what_.fused) {
      build_.Operator(thread_, "aten::_fused_adamw_", t + 4 * kMs + kUs, t + 4 * kMs + 90 * kUs);
    }
    const int64_t until_ns = what_.outruns ? kStepNs - kUs : 10 * kMs;
    build_.Kernel(thread_, "multi_tensor_apply_kernel", t + 4 * kMs + 500 * kUs, t + 9 * kMs,
                  t + until_ns);
    if (what_.other_wait) {
      build_.ApiCall(thread_, "cudaStreamSynchronize_v3020", t + kMs, t + kMs + 100 * kUs);
    }
    Looks(train_, t, t + 5 * kMs - kUs, 5 * kMs);
  }

  void AddStep(int64_t t) {
    build_.Range(thread_, "step", t, t + kStepNs - kUs);
    AddModel(t);
    const int64_t waits_ns = what_.waits_first ? 9 * kMs : 0;
    if (waits_ns > 0) Looks(wait_, t + 5 * kMs, t + 5 * kMs + waits_ns, waits_ns);
    Looks(what_.in_loop     ? train_
          : what_.in_helper ? helper_
                            : update_,
          t + 5 * kMs + waits_ns, t + kStepNs - kUs, what_.sleeps ? kMs / 10 : 15 * kMs - waits_ns);
    if (what_.outruns) return;
    const int64_t copied_ns = what_.only_copies ? kStepNs - 200 * kUs : 12 * kMs;
    build_.Copy(thread_, CopyKind::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPageable,
                100'000'000, t + 5 * kMs + 100 * kUs, t + 10 * kMs, t + copied_ns);
    for (int64_t i = 0; i < what_.small_operators; ++i) {
      const int64_t at = t + 12 * kMs + i * 20 * kUs;
      build_.Operator(thread_, "aten::lerp_", at, at + 18 * kUs);
      build_.Kernel(thread_, "lerp", at + 10 * kUs, at + 12 * kUs, at + 14 * kUs);
    }
  }

  const HeldCase what_;
  StoreBuilder build_;
  ThreadId thread_;
  PythonStackId train_, update_, helper_, wait_;
  RunOverview overview_;
};

std::vector<Finding> FindingsOf(const HeldCase& what) { return HeldLoop(what).Run(); }

// The GPU idles for 8 ms, copies for 2 ms, and in the next step for 0.5 ms until the model's first
// launch: without the function the loop is there long before.
TEST(HeldGpu, IdleTimeCopiesAndWhatComesLaterForThemAreTheGain) {
  const auto findings = FindingsOf({});
  ASSERT_FALSE(findings.empty());
  const Finding& found = findings.front();
  ASSERT_EQ(found.rule, "gpu-held-back");
  EXPECT_EQ(
      found.title,
      "`Averages.update` (train.py:128) leaves the GPU without other work for 49 % of a step");
  EXPECT_NE(found.seen.find("Python 7.60 ms, its copies 2.00 ms."), std::string::npos)
      << found.seen;
  EXPECT_NEAR(found.gain_ns, 0.95 * (2 + 8.5 * kWithIdle) * kMs, 0.1 * kMs);
  for (const char* part : {"python-work", "exposed-copies", "pageable-copy", "host-sync",
                           "launch-bound", "unfused-updates", "cpu-tensors"}) {
    EXPECT_EQ(FindRule(findings, part), nullptr) << part;
  }
}

// A callback before the step, which Lightning calls within it: of a fused optimizer nothing else
// takes its time. One that updates parameter by parameter is itself what does.
TEST(HeldGpu, InTheStepOfAFusedOptimizer) {
  const auto findings = FindingsOf({.in_optimizer = true, .fused = true});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().rule, "gpu-held-back");
  EXPECT_NE(findings.front().title.find("`Averages.update` (train.py:128)"), std::string::npos);
  EXPECT_EQ(FindRule(FindingsOf({.in_optimizer = true}), "gpu-held-back"), nullptr);
}

// The loop waits for the GPU elsewhere too: it does not run ahead.
TEST(HeldGpu, AnotherWaitKeepsTheLoopFromRunningAhead) {
  const auto findings = FindingsOf({.other_wait = true});
  const Finding* found = FindRule(findings, "gpu-held-back");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.95 * (2 + 8 * kWithIdle) * kMs, 0.1 * kMs);
}

TEST(HeldGpu, WhatTheGpuHidesHoldsNothingBack) {
  EXPECT_EQ(FindRule(FindingsOf({.outruns = true}), "gpu-held-back"), nullptr);
}

TEST(HeldGpu, OneThatSleepsIsSaidToWait) {
  const auto findings = FindingsOf({.sleeps = true});
  EXPECT_EQ(FindRule(findings, "gpu-held-back"), nullptr);
}

TEST(HeldGpu, OneThatOnlyCopiesHasItsOwnAdvice) {
  const auto findings = FindingsOf({.only_copies = true});
  EXPECT_EQ(FindRule(findings, "gpu-held-back"), nullptr);
  EXPECT_NE(FindRule(findings, "exposed-copies"), nullptr);
}

// Averages of weights on the GPU, one by one: no graph of the model launches them.
TEST(HeldGpu, WhatItLaunchesIsNotTheModels) {
  const auto findings = FindingsOf({.small_operators = 390});
  const Finding* found = FindRule(findings, "gpu-held-back");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("operators 5.46 ms"), std::string::npos) << found->seen;
  EXPECT_NE(found->seen.find("short kernels 780 µs"), std::string::npos) << found->seen;
  EXPECT_EQ(FindRule(findings, "launch-bound"), nullptr);
  EXPECT_EQ(FindRule(findings, "unfused-updates"), nullptr);
}

TEST(HeldGpu, WhatItCallsIsNamedToo) {
  const auto findings = FindingsOf({.in_helper = true});
  const Finding* found = FindRule(findings, "gpu-held-back");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("`Averages.update` (train.py:128) leaves"), 0u) << found->title;
  EXPECT_TRUE(found->seen.ends_with(" Much of that is in `mean_of` (train.py:99).")) << found->seen;
}

// Five of the nine milliseconds in line 120 are the wait for the step's own work.
TEST(HeldGpu, TheLineIsNotWhereItWaitsForTheStep) {
  const auto findings = FindingsOf({.waits_first = true});
  const Finding* found = FindRule(findings, "gpu-held-back");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("`Averages.update` (train.py:128) leaves"), 0u) << found->title;
}

// What stands in the loop itself is told where it computes, and not where it launches and waits.
TEST(HeldGpu, TheLoopItselfIsToldWhereItComputes) {
  const auto findings = FindingsOf({.in_loop = true});
  const Finding* found = FindRule(findings, "gpu-held-back");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("`train` (train.py:70)"), 0u) << found->title;
  const HeldCase launches{.small_operators = 390, .in_loop = true};
  EXPECT_EQ(FindRule(FindingsOf(launches), "gpu-held-back"), nullptr);
}

// 20 steps of 10 ms: a forward of 1 ms, small operators in no phase for 3 ms, which autograd
// follows or not, and a backward in which the GPU works.
std::vector<Finding> FindingsOfOperatorsBehindForward(bool followed) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < kSteps; ++i) {
    const int64_t t = i * 10 * kMs;
    build.Range(thread, "step", t, t + 10 * kMs - kUs);
    build.Module(thread, "Model", "Model", t, t + kMs);
    for (int64_t k = 0; k < 100; ++k) {
      const int64_t at = t + k * 40 * kUs;
      build.Operator(thread, "aten::mul", at, at + 38 * kUs, followed ? i * 1000 + k : 0);
      build.Kernel(thread, "mul", at + 30 * kUs, at + 32 * kUs, at + 34 * kUs);
    }
    build.Phase(thread, Phase::kBackward, "backward", t + 4 * kMs, t + 10 * kMs - 2 * kUs);
    build.Kernel(thread, "nvjet_hsh_128", t + 4 * kMs + kUs, t + 4 * kMs + 2 * kUs,
                 t + 10 * kMs - 2 * kUs);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(LaunchBound, ALossThatIsNoModuleIsTheModels) {
  const auto findings = FindingsOfOperatorsBehindForward(true);
  const Finding* found = FindRule(findings, "launch-bound");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.65 * 3.8 * kMs, 0.1 * kMs);
  EXPECT_EQ(FindRule(FindingsOfOperatorsBehindForward(false), "launch-bound"), nullptr);
}

// What a package's loop does between phases is not the program's to change.
TEST(HeldGpu, WhatAPackagesLoopDoesIsNot) {
  const auto findings =
      FindingsOf({.file = "/usr/lib/python3/dist-packages/transformers/trainer.py"});
  EXPECT_EQ(FindRule(findings, "gpu-held-back"), nullptr);
}

}  // namespace
}  // namespace batchlight
