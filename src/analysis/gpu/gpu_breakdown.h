// What a step is made of on the GPU. Every nanosecond of a step's window belongs to exactly one
// part, so that the parts add up to its length.
//
// Window: the GPU runs behind the CPU, so a step's window on the GPU starts with the first work
// that the step launched on the main stream and ends where the next step's window starts (with its
// own last work where there is none, or that step begins with other work: the first batch of an
// epoch, a validation, counters that are switched). The main stream is the one that computes
// longest: copies that a loop prefetches on another stream run steps ahead. A step that launched
// nothing on the main stream has no window.
//
// Busy time belongs to the first kind of GpuWork that is active. Communication and copies therefore
// appear only where nothing computes (exposed); what computing hides is reported separately. Idle
// time is explained by the thread that launched the work that ended it: it had no processor, was in
// the recorder's own code, the DataLoader or torch.compile, or in a call that waits for the GPU;
// otherwise the launch came too late, and the thread was inside CUDA calls, inside operators, in a
// call of the C library, waited for the GIL, or ran what lies around operators: the model's Python,
// autograd, the optimizer's Python, and last the loop's own Python and everything else.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "analysis/gpu/gpu_intervals.h"
#include "analysis/lines/code_samples.h"
#include "analysis/numbers/statistics.h"
#include "analysis/numbers/time_span.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct GpuActivity;

enum class GpuPart : uint8_t {
  kTensorCore,
  kCompute,
  kGraph,          // whose kernels were not recorded
  kCommunication,  // exposed
  kCopy,           // exposed
  kMemset,
  kIdleDataLoading,
  kIdleCompile,
  kIdleSynchronization,
  kIdleLaunch,       // the CPU was inside CUDA calls: bound by launches
  kIdleOperators,    // inside operators: bound by their overhead
  kIdleCpuTensors,   // inside operators that launch nothing and compute: on tensors of the CPU
  kIdleSystemCall,   // in a call of the C library, where these were recorded
  kIdleGil,          // waited for Python's GIL, by samples
  kIdleNoProcessor,  // could run, but another thread had the processor; where that was recorded
  kIdleRecorder,     // the recorder looked at the program
  kIdleModel,        // outside operators: in a module's forward
  kIdleAutograd,     // ... between those of backward
  kIdleOptimizer,    // ... in an optimizer's step or zero_grad
  kIdleOwnPython,    // ... in Python of the loop, by samples
  kIdleWaiting,      // ... in Python that waits for something else than the GPU, by samples
  kIdlePython,       // ... anywhere else, and where nothing tells
  kIdleQueue,        // launched in time: what the GPU needs from one piece of work to the next
  kIdleElsewhere,    // ... for long: it worked for somebody else
};
inline constexpr size_t kGpuPartCount = 24;

struct GpuStepParts {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::array<int64_t, kGpuPartCount> part_ns{};
  int64_t hidden_communication_ns = 0;  // behind computing; in no part

  int64_t duration_ns() const { return end_ns - start_ns; }
};

struct GpuBreakdown {
  ProcessId process;
  uint32_t device = 0;
  std::vector<GpuStepParts> steps;  // one per step of ProcessSteps::steps; empty window: 0 length
  std::array<Sample, kGpuPartCount> steady;   // over steady steps
  std::array<double, kGpuPartCount> share{};  // of their windows, 0 to 1
  Sample window;                              // length of the windows of steady steps
  double busy_share = 0;
  double overlapped_communication_ns = 0;  // mean per steady step: hidden behind computing
  double overlapped_copy_ns = 0;
  // The CPU waited for data while the GPU had work (breakdown/hidden_loading.h); the rest of its
  // waiting is the part kIdleDataLoading, or lies outside of the windows.
  double hidden_loading_ns = 0;
  // What the launching threads ran in the parts that are Python (IsIdleInPython) of steady steps,
  // where Python was sampled.
  SampledTime idle_python;
  SampledTime idle_cpu_tensors;  // the same for kIdleCpuTensors
};

// One per process of `steps` and device that it used. Empty without GPU work.
std::vector<GpuBreakdown> BreakDownGpu(const StepInputs& inputs, const StepSet& steps);

// The same for one choice of steps after another: what each step is made of is found once, and only
// summed up over those that count. The store must outlive this.
class GpuBreakdowns {
 public:
  GpuBreakdowns(const GpuActivity& gpus, const StepSet& steps);

  // `steps`: the same processes and steps, whichever count.
  std::vector<GpuBreakdown> Of(const StepSet& steps) const;

 private:
  using SpansOfThreads = std::map<ThreadId, std::vector<TimeSpan>>;
  struct Device {
    GpuBreakdown found;                   // without what is over steady steps
    std::vector<int64_t> hidden_copy_ns;  // by step: behind computing
    SpansOfThreads python;                // IsIdleInPython
    SpansOfThreads cpu_tensors;
  };
  class Maker;

  SampledTime NameIn(const SpansOfThreads& spans_of_threads,
                     const std::vector<TimeSpan>& steady) const;
  static GpuBreakdown Summarised(const Device& device, const ProcessSteps& steps);

  friend class GpuStretches;

  CodeSamples samples_;
  std::vector<Device> devices_;
};

// The same of stretches of time (StepSet::within), one after another: the window of each GPU is the
// stretch, and idle time is explained as the gap that it is part of, whichever part that is.
class GpuStretches {
 public:
  explicit GpuStretches(const GpuActivity& gpus) : gpus_(gpus) {}  // must outlive this

  // As the processes of `steps`.
  std::vector<GpuBreakdown> Of(const StepSet& steps) const;

 private:
  const GpuActivity& gpus_;
};

// The length of a step on the GPU if it is over a tenth longer than on the CPU: the CPU then runs
// ahead, and its steps are shorter than a step really takes. 0: the length on the CPU is right.
int64_t PaceOfGpuNs(const GpuBreakdown& gpu, const ProcessSteps& steps);

std::string_view GpuPartName(GpuPart part);        // "Tensor Cores", "waiting for data"
std::string_view GpuPartKey(GpuPart part);         // "tensor_core", for files
std::string_view GpuPartHelp(GpuPart part);        // one sentence
GpuPart LargestIdlePart(const GpuBreakdown& gpu);  // over its steady steps
std::string_view IdleCause(GpuPart part);          // "data loading": what a sentence calls it
bool IsIdle(GpuPart part);
// The CPU was on its way to the launch that ended the gap: CUDA calls, operators, Python.
bool IsIdleBeforeLaunch(GpuPart part);
// ... and ran Python, as far as is known.
bool IsIdleInPython(GpuPart part);
// The sum of of(part) over the parts of a kind.
template <typename Of>
double SumOfParts(bool (*is_of_kind)(GpuPart part), Of of) {
  double sum = 0;
  for (size_t i = 0; i < kGpuPartCount; ++i) {
    const auto part = static_cast<GpuPart>(i);
    if (is_of_kind(part)) sum += of(part);
  }
  return sum;
}
double IdleInPythonShare(const GpuBreakdown& gpu);  // of steady steps
// ... and was in nothing else that was recorded: the loop's own Python, or nobody knows.
bool IsIdleOutside(GpuPart part);
// The groups of parts that the table of ranks has columns for.
enum class GpuPartGroup : uint8_t { kComputing, kCommunication, kCopies, kIdle };
GpuPartGroup GroupOf(GpuPart part);

}  // namespace batchlight
