#include "export/text/named_stacks.h"

#include <algorithm>
#include <map>

#include "analysis/breakdown/native_parts.h"
#include "analysis/cpu/call_stacks.h"
#include "analysis/cpu/sample_sums.h"
#include "analysis/lines/call_lines.h"
#include "analysis/lines/look_times.h"
#include "export/text/memory_stacks.h"
#include "export/text/python_frames.h"

namespace batchlight {
namespace {

// Frames innermost first.
void AddNative(const Store& store, NativeStackId stack, std::vector<NamedFrame>& frames) {
  for (NativeStackId at = stack; !at.IsNone(); at = store.native_stacks.parent[at.row()]) {
    frames.push_back({FrameName(store, store.native_stacks.frame[at.row()])});
  }
}

// Native code down to where the interpreter called it, and above that the functions of Python.
void AddMerged(const Store& store, NativeStackId stack, PythonStackId python_stack,
               std::vector<NamedFrame>& frames) {
  for (NativeStackId at = stack; !at.IsNone(); at = store.native_stacks.parent[at.row()]) {
    const NativeFrameId frame = store.native_stacks.frame[at.row()];
    if (RunsPython(store, frame)) return AddPythonFrames(store, python_stack, frames);
    frames.push_back({FrameName(store, frame)});
  }
}

NamedStacks SampledNativeStacks(const Store& store) {
  NamedStacks stacks;
  for (const SampledStack& sampled : SumSamplesByStack(store)) {
    if (sampled.stack.IsNone()) continue;
    NamedStack& stack = stacks.emplace_back(NamedStack{sampled.thread, {}, sampled.cpu_ns});
    AddNative(store, sampled.stack, stack.frames);
    std::reverse(stack.frames.begin(), stack.frames.end());
  }
  return stacks;
}

// Under a frame for the part that they lie in, within the steps that count.
NamedStacks NativeStacksByPart(const Store& store, const ExportOptions& options) {
  const StepInputs inputs(store);
  const StepSet steps = FindSteps(inputs, options.steps);
  const SampleParts parts = options.stacks == ExportStacks::kNativePhases
                                ? PhasesOfSamples(inputs, steps)
                                : IdleCausesOfSamples(inputs, steps);
  NamedStacks stacks;
  for (const StackInPart& of : SumStacksByPart(store, parts)) {
    if (of.sampled.stack.IsNone()) continue;
    NamedStack& stack = stacks.emplace_back(NamedStack{of.sampled.thread, {}, of.sampled.cpu_ns});
    AddNative(store, of.sampled.stack, stack.frames);
    stack.frames.push_back({"[" + parts.names[of.part] + "]"});
    std::reverse(stack.frames.begin(), stack.frames.end());
  }
  std::stable_sort(stacks.begin(), stacks.end(),
                   [](const NamedStack& a, const NamedStack& b) { return a.thread < b.thread; });
  return stacks;
}

// Time in which the thread did not run is a frame of its own, so that it can be told from work.
NamedStacks SampledPythonStacks(const Store& store) {
  const PythonSamplesTable& samples = store.python_samples;
  std::map<std::pair<ThreadId, PythonStackId>, LookTimes> times;
  for (size_t row = 0; row < samples.size(); ++row) {
    if (samples.python_stack[row].IsNone()) continue;
    times[{samples.thread[row], samples.python_stack[row]}] += TimesOfLooks(samples, row);
  }
  NamedStacks stacks;
  for (const auto& [key, time] : times) {
    NamedStack stack{key.first, {}, time.ran_ns};
    AddPythonFrames(store, key.second, stack.frames);
    std::reverse(stack.frames.begin(), stack.frames.end());
    if (stack.value > 0) stacks.push_back(stack);
    const std::pair<const char*, int64_t> kept[] = {{"[waiting for a processor]", time.ready_ns},
                                                    {"[waiting for the GIL]", time.gil_ns},
                                                    {"[waiting]", time.waited_ns}};
    for (const auto& [why, ns] : kept) {
      if (ns == 0) continue;
      NamedStack& waiting = stacks.emplace_back(stack);
      waiting.frames.push_back({why});
      waiting.value = ns;
    }
  }
  return stacks;
}

NamedStacks StacksOfCalls(const Store& store, const std::vector<CallsOfStack>& calls) {
  NamedStacks stacks;
  for (const CallsOfStack& of : calls) {
    NamedStack& stack = stacks.emplace_back(NamedStack{of.thread, {}, of.total_ns});
    stack.frames.push_back({std::string(store.Text(of.call))});
    if (of.python_stack.IsNone()) {
      AddNative(store, of.stack, stack.frames);
    } else {
      AddMerged(store, of.stack, of.python_stack, stack.frames);
    }
    std::reverse(stack.frames.begin(), stack.frames.end());
  }
  return stacks;
}

struct Kind {
  NamedStacks stacks;
  const char* if_none;
};

Kind Collect(const Store& store, const ExportOptions& options) {
  const ExportStacks kind = options.stacks;
  switch (kind) {
    case ExportStacks::kNativePhases:
      return {NativeStacksByPart(store, options),
              "no CPU sample lies in a step: profile --sample=process-tree"};
    case ExportStacks::kNativeIdle:
      return {NativeStacksByPart(store, options),
              "no CPU sample of a thread that launches lies where a GPU waited in a step: profile "
              "--sample=process-tree"};
    case ExportStacks::kPythonSamples:
      return {SampledPythonStacks(store), "Python code was not sampled: profile --python-sampling"};
    case ExportStacks::kCudaCalls:
      return {StacksOfCalls(store, SumCudaCallsByStack(store, PythonStacksOfCallsAndLooks(store))),
              "no native stacks of CUDA calls were recorded: profile --cudabacktrace=all"};
    case ExportStacks::kOsCalls:
      return {StacksOfCalls(store, SumOsCallsByStack(store, PythonStacksOfOsCalls(store))),
              "no native stacks of OS calls were recorded: profile -t osrt"};
    case ExportStacks::kMemory:
    case ExportStacks::kAllocations:
      return {MemoryStacks(store, kind == ExportStacks::kMemory),
              "no memory was recorded: profile --python-memory=sampled"};
    case ExportStacks::kGpuMemory:
    case ExportStacks::kGpuAllocations:
      return {GpuMemoryStacks(store, kind == ExportStacks::kGpuMemory),
              "nothing of PyTorch's allocator of GPU memory was recorded: profile "
              "--cuda-memory-usage=true --python-lines=gpu"};
    default:
      return {SampledNativeStacks(store),
              "no CPU samples were recorded: profile --sample=process-tree"};
  }
}

}  // namespace

Result<NamedStacks> StacksOf(const Store& store, const ExportOptions& options) {
  Kind collected = Collect(store, options);
  if (collected.stacks.empty()) return InputError(collected.if_none);
  return std::move(collected.stacks);
}

}  // namespace batchlight
