// CPU samples added up: by function, by the program or library that the code is of, by stack.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct FunctionSum {
  StringId function;      // None: not known which of the module
  NativeModuleId module;  // None: code of no file
  bool inlined = false;   // where its code is part of its callers'
  uint64_t samples = 0;   // in the function itself
  int64_t self_ns = 0;    // processor time that these stand for
  int64_t total_ns = 0;   // with what it called; recursion counts once
  uint64_t threads = 0;   // in which it was innermost
};

struct ModuleSum {
  NativeModuleId module;
  uint64_t samples = 0;
  int64_t self_ns = 0;
  int64_t total_ns = 0;  // of stacks that go through it
};

// Samples of a thread with the same stack.
struct SampledStack {
  ThreadId thread;
  NativeStackId stack;
  uint64_t samples = 0;
  int64_t cpu_ns = 0;
};

// By time of their own, then by name.
std::vector<FunctionSum> SumSamplesByFunction(const Store& store);
std::vector<ModuleSum> SumSamplesByModule(const Store& store);
// The same of some samples, added up by thread and stack.
std::vector<FunctionSum> SumStacksByFunction(const Store& store,
                                             const std::vector<SampledStack>& stacks);
// By thread and stack.
std::vector<SampledStack> SumSamplesByStack(const Store& store);

// "libtorch_cpu.so", "[kernel]", "[no file]"
std::string ModuleName(const Store& store, NativeModuleId module);
// "f", "f (inlined)", "[unknown]"
std::string NativeFunctionName(const Store& store, const FunctionSum& sum);
// The function, "f (inlined)" where it is a part of its caller's code, or "libcuda.so.1+0x1a2b"
// where it is not known.
std::string FrameName(const Store& store, NativeFrameId frame);

}  // namespace batchlight
