// Libraries whose native code holds up the loop.
#include <gtest/gtest.h>

#include "analysis/advice/rules.h"
#include "analysis/cpu/native_owner.h"
#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

struct NativeCode {
  const char* library;
  const char* function;
};

// The stack of frames from the outermost on.
NativeStackId AddStack(StoreBuilder& build, std::initializer_list<NativeCode> frames) {
  Store& made = build.store();
  NativeStackId stack;
  for (const NativeCode& code : frames) {
    const StringId path = build.Text(code.library);
    size_t module = 0;
    while (module < made.native_modules.size() && made.native_modules.path[module] != path) {
      ++module;
    }
    if (module == made.native_modules.size()) made.native_modules.Append({.path = path});
    made.native_frames.Append(
        {.module = NativeModuleId::At(module), .function = build.Text(code.function)});
    made.native_stacks.Append(
        {.frame = NativeFrameId::At(made.native_frames.size() - 1), .parent = stack});
    stack = NativeStackId::At(made.native_stacks.size() - 1);
  }
  return stack;
}

constexpr NativeCode kPython = {"/usr/bin/python3.11", "_PyEval_EvalFrameDefault"};
constexpr NativeCode kOperator = {"/v/torch/lib/libtorch_cpu.so", "at::native::mm"};
constexpr NativeCode kDecode = {"/v/decoder/libdecode.so.2", "decode_block"};
constexpr NativeCode kCopy = {"/lib/libc.so.6", "memcpy"};

// 20 steps of 10 ms: forward for 9 ms, a kernel for the last of them. Samples at 1, 3 and 5 ms, and
// at 9.5 ms while the GPU works.
std::vector<Finding> FindingsOf(std::initializer_list<NativeCode> frames, bool has_gpu,
                                bool while_idle = true) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "fit.py"));
  const NativeStackId stack = AddStack(build, frames);
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t t = step * 10 * kMs;
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Module(thread, "Net", "Net", t, t + 9 * kMs);
    build.Operator(thread, "aten::mm", t + 8 * kMs, t + 9 * kMs);
    if (has_gpu) build.Kernel(thread, "gemm", t + 9 * kMs - 10'000, t + 9 * kMs, t + 10 * kMs);
    for (const int64_t at : {1, 3, 5}) {
      build.store().cpu_samples.Append({.start_ns = while_idle ? t + at * kMs : t + 9 * kMs + at,
                                        .thread = thread,
                                        .cpu_ns = kMs,
                                        .native_stack = stack});
    }
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(NativeRules, ALibraryThatHoldsUpTheLaunchesIsNamed) {
  const auto findings = FindingsOf({kPython, kDecode, kCopy}, true);
  const Finding* found = FindRule(findings, "native-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title,
            "libdecode.so.2: 29 % of a step is in its native code while the GPU waits");
  EXPECT_NE(found->seen.find("`decode_block` (100 %)"), std::string::npos) << found->seen;
  EXPECT_EQ(found->gain_ns, 0);
  ASSERT_EQ(found->evidence.size(), 1u);
  EXPECT_NEAR(found->evidence[0].per_step_ns, 0.95 * 3 * kMs, kMs / 100);
  EXPECT_EQ(FindRule(FindingsOf({kPython, kDecode, kCopy}, true, false), "native-work"), nullptr)
      << "the GPU works meanwhile";
}

// Forward calls it, which no rule about Python is for.
TEST(NativeRules, TheLineThatCallsItIsNamed) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "fit.py"));
  const NativeStackId stack = AddStack(build, {kPython, kDecode});
  build.store().python_frames.Append(
      {.file = build.Text("/home/u/net.py"), .function = build.Text("Net.forward"), .line = 42});
  build.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t t = step * 10 * kMs;
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Module(thread, "Net", "Net", t, t + 9 * kMs);
    build.Operator(thread, "aten::mm", t + 5 * kMs, t + 9 * kMs);
    build.store().python_samples.Append({.start_ns = t,
                                         .end_ns = t + 5 * kMs,
                                         .thread = thread,
                                         .python_stack = PythonStackId::At(0),
                                         .samples = 1,
                                         .cpu_ns = 5 * kMs});
    for (int64_t at = 1; at < 5; ++at) {
      build.store().cpu_samples.Append(
          {.start_ns = t + at * kMs, .thread = thread, .cpu_ns = kMs, .native_stack = stack});
    }
  }
  const Store store = build.Build();
  const auto findings = BuildOverview(store).findings;
  const Finding* found = FindRule(findings, "native-work");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("called by `Net.forward` (net.py:42)."), std::string::npos)
      << found->seen;
}

// The loop decodes for 6 ms of 10, and looks from outside find that in `load` of fit.py.
TEST(NativeRules, WhatPythonNamesIsNotSaidTwice) {
  for (const bool has_looks : {true, false}) {
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(7, "fit.py"));
    const NativeStackId stack = AddStack(build, {kPython, kDecode});
    build.store().python_frames.Append(
        {.file = build.Text("/home/u/fit.py"), .function = build.Text("load"), .line = 30});
    build.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
    for (int64_t step = 0; step < 20; ++step) {
      const int64_t t = step * 10 * kMs;
      build.Range(thread, "step", t, t + 10 * kMs - 1000);
      build.Module(thread, "Net", "Net", t + 6 * kMs, t + 9 * kMs);
      build.Operator(thread, "aten::mm", t + 6 * kMs, t + 9 * kMs);
      for (int64_t at = 1; at < 6; ++at) {
        build.store().cpu_samples.Append(
            {.start_ns = t + at * kMs, .thread = thread, .cpu_ns = kMs, .native_stack = stack});
        if (!has_looks) continue;
        build.store().python_samples.Append({.start_ns = t + (at - 1) * kMs,
                                             .end_ns = t + at * kMs,
                                             .thread = thread,
                                             .python_stack = PythonStackId::At(0),
                                             .samples = 1,
                                             .cpu_ns = kMs});
      }
    }
    const Store store = build.Build();
    const auto findings = BuildOverview(store).findings;
    EXPECT_NE(FindRule(findings, "python-work"), nullptr);
    EXPECT_EQ(FindRule(findings, "native-work") == nullptr, has_looks);
  }
}

TEST(NativeRules, OnTheCpuItIsTheStepsTime) {
  const auto findings = FindingsOf({kPython, kDecode}, false);
  const Finding* found = FindRule(findings, "native-work");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("that runs the steps"), std::string::npos) << found->seen;
}

TEST(NativeRules, OperatorsAndPythonHaveRulesOfTheirOwn) {
  constexpr NativeCode kBlas = {"/lib/libopenblas.so.0", "dgemm_kernel"};
  constexpr NativeCode kDriver = {"/lib/libcuda.so.1", "cuLaunchKernel"};
  for (const auto& frames : {std::initializer_list<NativeCode>{kPython},
                             {kPython, kCopy},
                             {kPython, kOperator, kCopy},
                             {kPython, kOperator, kBlas},
                             {kBlas},
                             {kPython, kOperator, kDriver}}) {
    EXPECT_EQ(FindRule(FindingsOf(frames, true), "native-work"), nullptr);
  }
  constexpr NativeCode kNumpy = {"/v/numpy/_core/_multiarray_umath.so", "matmul"};
  EXPECT_NE(FindRule(FindingsOf({kPython, kNumpy, kBlas}, true), "native-work"), nullptr);
  // An operator of an extension's.
  EXPECT_NE(FindRule(FindingsOf({kPython, kOperator, kDecode}, true), "native-work"), nullptr);
}

TEST(NativeRules, FilesHaveOwners) {
  EXPECT_EQ(OwnerOfNative("[vdso]"), NativeOwner::kSystem);
  EXPECT_EQ(OwnerOfNative("/v/torch/lib/libgomp-a34b3233.so.1"), NativeOwner::kMath);
  EXPECT_EQ(OwnerOfNative("/v/site-packages/torch/_C.so"), NativeOwner::kOperators);
  EXPECT_EQ(OwnerOfNative("/v/site-packages/jaxlib/xla_extension.so"), NativeOwner::kOperators);
  EXPECT_EQ(OwnerOfNative("/v/site-packages/torchvision/image.so"), NativeOwner::kOther);
  EXPECT_EQ(OwnerOfNative("/usr/lib/libpython3.12.so.1.0"), NativeOwner::kPython);
  EXPECT_EQ(OwnerOfNative("/lib/libnccl.so.2"), NativeOwner::kCuda);
}

}  // namespace
}  // namespace batchlight
