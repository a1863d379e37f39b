#include <gtest/gtest.h>

#include "analysis/cpu/call_stacks.h"
#include "analysis/cpu/sample_sums.h"
#include "analysis/cpu/thread_times.h"

namespace batchlight {
namespace {

class CpuSums : public testing::Test {
 protected:
  CpuSums() {
    store_.processes.Append({.pid = 1});
    for (const uint32_t tid : {1u, 2u}) {
      store_.threads.Append({.process = ProcessId::At(0), .tid = tid});
    }
    store_.duration_ns = 1000;
  }
  StringId Text(std::string_view text) { return store_.strings.Intern(text); }
  NativeStackId Frame(std::string_view function, NativeStackId parent, uint64_t address,
                      size_t module = 0) {
    store_.native_frames.Append({.module = NativeModuleId::At(module),
                                 .address = address,
                                 .function = function.empty() ? StringId() : Text(function)});
    store_.native_stacks.Append(
        {.frame = NativeFrameId::At(store_.native_frames.size() - 1), .parent = parent});
    return NativeStackId::At(store_.native_stacks.size() - 1);
  }
  void Sample(size_t thread, NativeStackId stack, int64_t cpu_ns = 10) {
    store_.cpu_samples.Append(
        {.thread = ThreadId::At(thread), .cpu_ns = cpu_ns, .native_stack = stack});
  }
  void Switch(int64_t at_ns, SwitchKind kind, size_t thread = 0) {
    store_.cpu_switches.Append({.start_ns = at_ns, .thread = ThreadId::At(thread), .kind = kind});
  }
  Store store_;
};

TEST_F(CpuSums, FunctionsHaveTheirOwnTimeAndAllOfIt) {
  store_.native_modules.Append({.path = Text("/usr/bin/train")});
  store_.native_modules.Append({.path = Text("/usr/lib/libcuda.so.1")});
  const NativeStackId main = Frame("main", {}, 1);
  const NativeStackId walk = Frame("walk", main, 2);
  const NativeStackId again = Frame("walk", walk, 2);  // recursion, at another call
  const NativeStackId unknown = Frame("", again, 0x1a2b, 1);
  Sample(0, main);
  Sample(0, again);
  Sample(1, again);
  Sample(1, unknown, 5);
  const std::vector<FunctionSum> sums = SumSamplesByFunction(store_);
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_EQ(store_.Text(sums[0].function), "walk");
  EXPECT_EQ(sums[0].self_ns, 20);
  EXPECT_EQ(sums[0].total_ns, 25);
  EXPECT_EQ(sums[0].samples, 2u);
  EXPECT_EQ(sums[0].threads, 2u);
  EXPECT_EQ(store_.Text(sums[1].function), "main");
  EXPECT_EQ(sums[1].self_ns, 10);
  EXPECT_EQ(sums[1].total_ns, 35);
  EXPECT_TRUE(sums[2].function.IsNone());
  const std::vector<ModuleSum> modules = SumSamplesByModule(store_);
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(ModuleName(store_, modules[0].module), "train");
  EXPECT_EQ(modules[0].self_ns, 30);
  EXPECT_EQ(modules[0].total_ns, 35);
  EXPECT_EQ(modules[1].self_ns, 5);
  EXPECT_EQ(FrameName(store_, NativeFrameId::At(3)), "libcuda.so.1+0x1a2b");
}

// Its own time is not that of the function that it became part of, whose total holds it.
TEST_F(CpuSums, AnInlinedFunctionIsOneOfItsOwn) {
  store_.native_modules.Append({.path = Text("/usr/bin/train")});
  const NativeStackId main = Frame("main", {}, 1);
  const NativeStackId walk = Frame("walk", main, 2);
  const NativeStackId inlined = Frame("walk", walk, 2);
  store_.native_frames.inlined.back() = YesNo::kYes;
  Sample(0, walk);
  Sample(0, inlined, 100);
  const std::vector<FunctionSum> sums = SumSamplesByFunction(store_);
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_EQ(NativeFunctionName(store_, sums[0]), "walk (inlined)");
  EXPECT_EQ(sums[0].self_ns, 100);
  EXPECT_EQ(sums[0].total_ns, 100);
  EXPECT_EQ(sums[0].threads, 1u);
  EXPECT_EQ(NativeFunctionName(store_, sums[1]), "walk");
  EXPECT_EQ(sums[1].self_ns, 10);
  EXPECT_EQ(sums[1].total_ns, 110);
  EXPECT_EQ(sums[1].threads, 1u);
  EXPECT_EQ(FrameName(store_, NativeFrameId::At(2)), "walk (inlined)");
}

// cudaMalloc of the driver and the runtime, called by an allocator, called by two operators.
TEST_F(CpuSums, CallsHaveTheFunctionsThatMadeThem) {
  for (const char* path : {"/x/libcuda.so.1", "/x/libcudart.so.13", "/x/libtorch_cpu.so"}) {
    store_.native_modules.Append({.path = Text(path)});
  }
  NativeStackId stacks[2];
  for (size_t i = 0; i < 2; ++i) {
    const NativeStackId op = Frame(i == 0 ? "add" : "mul", {}, 10 + i, 2);
    const NativeStackId allocate = Frame("Allocator::allocate", op, 20 + i, 2);
    stacks[i] = Frame("", Frame("cudaMalloc", allocate, 30, 1), 40, 0);
  }
  const auto call = [&](size_t thread, NativeStackId stack, int64_t ns) {
    const auto row = ApiCallId::At(store_.api_calls.size());
    store_.api_calls.Append({.start_ns = 100,
                             .end_ns = 100 + ns,
                             .thread = ThreadId::At(thread),
                             .name = Text("cudaMalloc_v3020")});
    store_.cuda_backtraces.Append({.native_stack = stack, .api_call = row});
  };
  call(0, stacks[0], 7);
  call(0, stacks[0], 9);
  call(1, stacks[0], 1);
  call(0, stacks[1], 30);
  store_.os_calls.Append({.start_ns = 5, .end_ns = 8, .name = Text("read")});  // without a stack

  std::vector<PythonStackId> python_stacks(store_.api_calls.size());
  std::vector<PythonStackId> os_stacks(store_.os_calls.size());
  const std::vector<CallsOfStack> by_stack = SumCudaCallsByStack(store_, python_stacks);
  ASSERT_EQ(by_stack.size(), 3u);
  EXPECT_EQ(by_stack[0].calls, 2u);
  EXPECT_EQ(by_stack[0].total_ns, 16);
  EXPECT_EQ(by_stack[0].longest_ns, 9);
  EXPECT_TRUE(SumOsCallsByStack(store_, os_stacks).empty());

  const std::vector<CallsOfCaller> by_caller =
      SumCallsByCaller(store_, python_stacks, os_stacks, nullptr);
  ASSERT_EQ(by_caller.size(), 2u);
  EXPECT_EQ(by_caller[0].total_ns, 30);
  EXPECT_EQ(by_caller[1].calls, 3u);
  EXPECT_EQ(by_caller[1].total_ns, 17);
  ASSERT_EQ(by_caller[1].callers.size(), 2u);
  EXPECT_EQ(FrameName(store_, by_caller[1].callers[0]), "Allocator::allocate");
  EXPECT_EQ(FrameName(store_, by_caller[1].callers[1]), "add");
}

TEST_F(CpuSums, SamplesWithoutStackAreNoFunctions) {
  Sample(0, {});
  EXPECT_TRUE(SumSamplesByFunction(store_).empty());
  ASSERT_EQ(MeasureThreads(store_).size(), 1u);
  EXPECT_EQ(MeasureThreads(store_)[0].sampled_ns, 10);
}

TEST_F(CpuSums, ThreadsRunAreReadyAndWait) {
  Switch(100, SwitchKind::kOn);
  Switch(150, SwitchKind::kPreempted);
  Switch(170, SwitchKind::kOn);
  Switch(200, SwitchKind::kBlocked);
  Switch(500, SwitchKind::kOn);
  Switch(510, SwitchKind::kBlocked);
  Switch(10, SwitchKind::kOn, 1);
  Switch(20, SwitchKind::kOn, 1);  // the one between was lost
  Switch(30, SwitchKind::kBlocked, 1);
  store_.os_calls.Append(
      {.start_ns = 190, .end_ns = 501, .thread = ThreadId::At(0), .name = Text("read")});
  const std::vector<ThreadTimes> threads = MeasureThreads(store_);
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].thread, ThreadId::At(0));
  EXPECT_EQ(threads[0].running_ns, 90);
  EXPECT_EQ(threads[0].ready_ns, 20);
  EXPECT_EQ(threads[0].blocked_ns, 300);
  EXPECT_EQ(threads[0].preempted, 1u);
  EXPECT_EQ(threads[0].waits, 2u);
  EXPECT_EQ(store_.Text(threads[0].blocked_in), "read");
  EXPECT_EQ(threads[0].blocked_in_ns, 300);
  EXPECT_EQ(threads[1].running_ns, 10);
}

TEST_F(CpuSums, ThreadsRunWhereTheyAreSampledAroundTheirSwitches) {
  Switch(100, SwitchKind::kPreempted);
  Switch(120, SwitchKind::kOn);
  for (const int64_t at_ns : {40, 60, 130, 180}) {
    store_.cpu_samples.Append({.start_ns = at_ns, .thread = ThreadId::At(0), .cpu_ns = 20});
  }
  const std::vector<ThreadTimes> threads = MeasureThreads(store_);
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0].running_ns, 80 + 60);
  EXPECT_EQ(threads[0].ready_ns, 20);
}

}  // namespace
}  // namespace batchlight
