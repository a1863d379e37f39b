#include "analysis/gpu/gpu_breakdown.h"

#include <algorithm>

#include "analysis/gpu/gpu_activity.h"
#include "analysis/steps/step_lookup.h"
#include "base/thread_pool.h"

namespace batchlight {
namespace {

struct PartText {
  std::string_view key;
  std::string_view name;
  std::string_view help;
  std::string_view cause = {};  // what the CPU is in meanwhile, for a sentence
};

constexpr PartText kParts[kGpuPartCount] = {
    {"tensor_core", "Tensor Cores", "kernels that run on Tensor Cores, by their names"},
    {"compute", "other kernels", "kernels that run on no Tensor Cores, by their names"},
    {"graph", "CUDA graphs",
     "graphs recorded as a whole; --cuda-graph-trace=node records their kernels"},
    {"communication", "communication", "NCCL and the like, while nothing computes"},
    {"copy", "copies", "memory copies, while nothing computes or communicates"},
    {"memset", "memory sets", "memory sets, while nothing else runs"},
    {"idle_data_loading", "idle: data loading", "the CPU waits for the DataLoader", "data loading"},
    {"idle_compile", "idle: compilation", "the CPU is inside torch.compile", "compilation"},
    {"idle_synchronization", "idle: synchronization",
     "the CPU is inside a call that waits for the GPU, which has nothing left to do",
     "synchronization"},
    {"idle_launch", "idle: CUDA calls", "the CPU is inside CUDA calls: bound by launches",
     "CUDA calls"},
    {"idle_operators", "idle: operators",
     "the CPU is inside PyTorch's operators, on the way to a launch", "operators"},
    {"idle_cpu_tensors", "idle: CPU tensors",
     "the CPU is inside PyTorch's operators that compute on tensors of its own",
     "operators on tensors of the CPU"},
    {"idle_system_call", "idle: C library",
     "the CPU is inside a call of the C library (a lock, a file, a pause)", "the C library"},
    {"idle_gil", "idle: GIL", "the CPU waits for Python's GIL, by samples", "a wait for the GIL"},
    {"idle_no_processor", "idle: no processor",
     "the CPU could go on, but other threads have the processors", "a queue for a processor"},
    {"idle_recorder", "idle: the recorder",
     "batchlight itself looks at the model, which no run without it does: in the first steps",
     "the recorder"},
    {"idle_model", "idle: Python of the model",
     "the CPU is in the forward of a module, outside operators and CUDA calls",
     "Python of the model"},
    {"idle_autograd", "idle: autograd", "the CPU is between the operators of backward", "autograd"},
    {"idle_optimizer", "idle: Python of the optimizer",
     "the CPU is in an optimizer, outside operators and CUDA calls", "Python of the optimizer"},
    {"idle_own_python", "idle: Python of the loop",
     "the CPU runs Python outside the model, the optimizer, operators and CUDA calls, by samples",
     "Python"},
    {"idle_waiting", "idle: waiting",
     "the CPU is in Python, off the processor: a lock, a file, the network, a pause, by samples",
     "a wait"},
    {"idle_python", "idle: Python and other",
     "the CPU is outside the model, the optimizer, operators and CUDA calls", "Python"},
    {"idle_queue", "idle: GPU queue",
     "the next work was launched in time: the GPU needs this long to begin it", "GPU queue"},
    {"idle_elsewhere", "idle: GPU elsewhere",
     "launched work waited for 0.1 ms or longer and the GPU did none of it: another process had "
     "the "
     "GPU, or the stream waited for a function on the CPU",
     "another process on the GPU"},
};

const PartText& TextOf(GpuPart part) { return kParts[static_cast<size_t>(part)]; }

}  // namespace

class GpuBreakdowns::Maker {
 public:
  Maker(const GpuActivity& gpus, const ProcessSteps& steps, size_t device)
      : store_(gpus.store),
        idle_(*gpus.idle),
        steps_(steps),
        work_(gpus.devices[device]),
        launches_(gpus.launches[device]) {}

  Device Make() {
    result_.found.steps.resize(steps_.steps.size());
    SetWindows();
    return MakeOfWindows();
  }

  // With the steps themselves as windows.
  Device MakeWithin() {
    for (const Step& step : steps_.steps) {
      result_.found.steps.push_back({.start_ns = step.start_ns, .end_ns = step.end_ns});
    }
    explains_whole_gaps_ = true;
    return MakeOfWindows();
  }

 private:
  Device MakeOfWindows() {
    result_.found.process = work_.process;
    result_.found.device = work_.device;
    SetBusy();
    SetIdle();
    SetHidden();
    return std::move(result_);
  }

  int64_t LaunchedAt(const GpuLaunch& launch) const {
    return launch.call.IsNone() ? launch.start_ns : store_.api_calls.start_ns[launch.call.row()];
  }

  // Whether something that is no step (an evaluation, the end of an epoch) lies behind the step, or
  // one that does not count, and may begin with anything.
  bool PausesAfter(size_t i, int64_t allowed_ns) const {
    const std::vector<Step>& steps = steps_.steps;
    if (i + 1 == steps.size()) return true;
    const Step& next = steps[i + 1];
    return next.start_ns > steps[i].end_ns + allowed_ns || DoesOtherWork(next.kind);
  }

  static bool DoesOtherWork(StepKind kind) {
    switch (kind) {
      case StepKind::kSteady:
      case StepKind::kWarmUp:
      case StepKind::kExcluded:
      case StepKind::kPlain:
      case StepKind::kPartlyPlain:
      case StepKind::kLookedAt:
      case StepKind::kCount:
        return false;
      case StepKind::kCompile:
      case StepKind::kValidation:
      case StepKind::kRollout:
      case StepKind::kCheckpoint:
      case StepKind::kEpochStart:
      case StepKind::kGraphCapture:
      case StepKind::kCounted:
        return true;
    }
    return false;
  }

  void SetWindows() {
    std::vector<GpuStepParts>& steps = result_.found.steps;
    std::vector<int64_t> last_end(steps.size(), 0);
    for (GpuStepParts& step : steps) step.start_ns = kOpenEnd;
    // What is launched between two steps counts for the first; what comes long after a step (an
    // evaluation, a rest of the loop that is no step) for none.
    const int64_t allowed_ns = 4 * std::max<int64_t>(0, steps_.between_ns);
    size_t at = StepLookup::kNone;
    launches_.Visit([&](const GpuLaunch& launch) {
      const int64_t launched_ns = LaunchedAt(launch);
      at = StepLookup::LastBegun(steps_.steps, launched_ns, at);
      if (at == StepLookup::kNone || launched_ns > steps_.steps[at].end_ns + allowed_ns) return;
      if (launch.main_stream) steps[at].start_ns = std::min(steps[at].start_ns, launch.start_ns);
      last_end[at] = std::max(last_end[at], launch.end_ns);
    });
    int64_t next_start_ns = kOpenEnd;
    for (size_t i = steps.size(); i-- > 0;) {
      if (steps[i].start_ns == kOpenEnd) {
        // The GPU works in a step without detail, but nobody saw it begin.
        if (steps_.steps[i].kind == StepKind::kPlain) next_start_ns = kOpenEnd;
        steps[i].start_ns = 0;
        continue;
      }
      // Work of a later step that started first (another stream) ends the window early.
      steps[i].start_ns = std::min(steps[i].start_ns, next_start_ns);
      const bool is_last = next_start_ns == kOpenEnd || PausesAfter(i, allowed_ns);
      steps[i].end_ns = is_last ? std::min(last_end[i], next_start_ns) : next_start_ns;
      next_start_ns = steps[i].start_ns;
    }
  }

  void SetBusy() {
    std::vector<TimeSpan> covered;
    for (size_t kind = 0; kind < kGpuWorkCount; ++kind) {
      std::vector<TimeSpan> united = UniteSpans(covered, work_.work[kind]);
      for (GpuStepParts& step : result_.found.steps) {
        if (step.duration_ns() == 0) continue;
        step.part_ns[kind] = NsInside(united, step.start_ns, step.end_ns) -
                             NsInside(covered, step.start_ns, step.end_ns);
      }
      covered = std::move(united);
    }
    busy_ = std::move(covered);
  }

  void SetIdle() {
    for (GpuStepParts& step : result_.found.steps) {
      if (step.duration_ns() == 0) continue;
      VisitGaps(busy_, step.start_ns, step.end_ns, [&](int64_t from_ns, int64_t to_ns) {
        const TimeSpan gap{from_ns, to_ns};
        const TimeSpan explained = explains_whole_gaps_ ? WholeGap(gap) : gap;
        const auto next = launches_.FirstFrom(explained.end_ns);
        idle_.Explain(explained.start_ns, explained.end_ns, next ? next->call : ApiCallId::None(),
                      [&](const IdleStretch& idle) { AddIdle(idle, gap, step); });
      });
    }
  }

  // From the work before to the work behind, as far as the run goes.
  TimeSpan WholeGap(const TimeSpan& part) const {
    const auto after = std::partition_point(busy_.begin(), busy_.end(), [&](const TimeSpan& span) {
      return span.start_ns < part.end_ns;
    });
    return {after == busy_.begin() ? std::min<int64_t>(0, part.start_ns) : (after - 1)->end_ns,
            after == busy_.end() ? std::max(store_.duration_ns, part.end_ns) : after->start_ns};
  }

  void AddIdle(const IdleStretch& idle, const TimeSpan& gap, GpuStepParts& step) {
    const auto [start_ns, end_ns] = PartInside({idle.start_ns, idle.end_ns}, gap);
    step.part_ns[static_cast<size_t>(idle.part)] += end_ns - start_ns;
    if (IsIdleInPython(idle.part)) {
      AddSpan(result_.python[idle.thread], start_ns, end_ns);
    } else if (idle.part == GpuPart::kIdleCpuTensors) {
      AddSpan(result_.cpu_tensors[idle.thread], start_ns, end_ns);
    }
  }

  void SetHidden() {
    const auto hidden_ns = [&](const GpuStepParts& step, GpuWork kind) {
      return NsInside(work_.Of(kind), step.start_ns, step.end_ns) -
             step.part_ns[static_cast<size_t>(kind)];
    };
    for (GpuStepParts& step : result_.found.steps) {
      const bool is_empty = step.duration_ns() == 0;
      if (!is_empty) step.hidden_communication_ns = hidden_ns(step, GpuWork::kCommunication);
      result_.hidden_copy_ns.push_back(is_empty ? 0 : hidden_ns(step, GpuWork::kCopy));
    }
  }

  const Store& store_;
  const GpuIdleExplainer& idle_;
  const ProcessSteps& steps_;
  const DeviceWork& work_;
  const GpuLaunches& launches_;
  std::vector<TimeSpan> busy_;
  bool explains_whole_gaps_ = false;
  Device result_;
};

// What the threads ran in these spans, in steady steps.
SampledTime GpuBreakdowns::NameIn(const SpansOfThreads& spans_of_threads,
                                  const std::vector<TimeSpan>& steady) const {
  if (samples_.empty()) return {};
  std::vector<SampledTime> times;
  for (const auto& [thread, spans] : spans_of_threads) {
    std::vector<TimeSpan> inside;
    size_t at = 0;
    for (const TimeSpan& span : spans) {
      if (NsInside(steady, span.start_ns, span.end_ns, at) > 0) {
        AddSpan(inside, span.start_ns, span.end_ns);
      }
    }
    times.push_back(samples_.During(thread, inside));
  }
  return SumOf(times);
}

GpuBreakdown GpuBreakdowns::Summarised(const Device& device, const ProcessSteps& steps) {
  GpuBreakdown result = device.found;
  std::vector<int64_t> windows;
  std::array<std::vector<int64_t>, kGpuPartCount> values;
  int64_t hidden_communication_ns = 0;
  int64_t hidden_copy_ns = 0;
  for (const uint32_t row : steps.steady) {
    const GpuStepParts& step = result.steps[row];
    if (step.duration_ns() == 0) continue;
    windows.push_back(step.duration_ns());
    for (size_t part = 0; part < kGpuPartCount; ++part) values[part].push_back(step.part_ns[part]);
    hidden_communication_ns += step.hidden_communication_ns;
    hidden_copy_ns += device.hidden_copy_ns[row];
  }
  result.window = Summarize(windows);
  if (windows.empty()) return result;
  for (size_t part = 0; part < kGpuPartCount; ++part) {
    result.steady[part] = Summarize(values[part]);
    result.share[part] =
        static_cast<double>(result.steady[part].total) / static_cast<double>(result.window.total);
    if (!IsIdle(static_cast<GpuPart>(part))) result.busy_share += result.share[part];
  }
  const auto count = static_cast<double>(windows.size());
  result.overlapped_communication_ns = static_cast<double>(hidden_communication_ns) / count;
  result.overlapped_copy_ns = static_cast<double>(hidden_copy_ns) / count;
  return result;
}

GpuBreakdowns::GpuBreakdowns(const GpuActivity& gpus, const StepSet& steps) : samples_(gpus.store) {
  if (steps.processes.empty()) return;
  std::vector<Device> made(gpus.devices.size());
  std::vector<char> wanted(made.size(), 0);
  ParallelFor(made.size(), [&](size_t i) {
    const ProcessSteps* of_process = steps.Of(gpus.devices[i].process);
    if (of_process == nullptr) return;
    made[i] = Maker(gpus, *of_process, i).Make();
    wanted[i] = 1;
  });
  for (size_t i = 0; i < made.size(); ++i) {
    if (wanted[i] != 0) devices_.push_back(std::move(made[i]));
  }
}

std::vector<GpuBreakdown> GpuBreakdowns::Of(const StepSet& steps) const {
  std::vector<GpuBreakdown> result(devices_.size());
  ParallelFor(devices_.size(), [&](size_t i) {
    const ProcessSteps& of_process = *steps.Of(devices_[i].found.process);
    result[i] = Summarised(devices_[i], of_process);
    std::vector<TimeSpan> steady;
    for (const uint32_t row : of_process.steady) {
      AddSpan(steady, result[i].steps[row].start_ns, result[i].steps[row].end_ns);
    }
    result[i].idle_python = NameIn(devices_[i].python, steady);
    result[i].idle_cpu_tensors = NameIn(devices_[i].cpu_tensors, steady);
  });
  return result;
}

std::vector<GpuBreakdown> GpuStretches::Of(const StepSet& steps) const {
  std::vector<GpuBreakdown> result;
  for (const ProcessSteps& process : steps.processes) {
    for (size_t i = 0; i < gpus_.devices.size(); ++i) {
      if (gpus_.devices[i].process != process.process) continue;
      GpuBreakdowns::Maker maker(gpus_, process, i);
      result.push_back(GpuBreakdowns::Summarised(maker.MakeWithin(), process));
    }
  }
  return result;
}

std::vector<GpuBreakdown> BreakDownGpu(const StepInputs& inputs, const StepSet& steps) {
  return GpuBreakdowns(GpuActivity(inputs), steps).Of(steps);
}

int64_t PaceOfGpuNs(const GpuBreakdown& gpu, const ProcessSteps& steps) {
  const int64_t cpu_ns = steps.duration.median + std::max<int64_t>(0, steps.between_ns);
  return gpu.window.count >= 3 && gpu.window.median > cpu_ns + cpu_ns / 10 ? gpu.window.median : 0;
}

std::string_view GpuPartName(GpuPart part) { return TextOf(part).name; }
std::string_view GpuPartKey(GpuPart part) { return TextOf(part).key; }
std::string_view GpuPartHelp(GpuPart part) { return TextOf(part).help; }
GpuPart LargestIdlePart(const GpuBreakdown& gpu) {
  const auto first = gpu.share.begin() + static_cast<ptrdiff_t>(GpuPart::kIdleDataLoading);
  return static_cast<GpuPart>(std::max_element(first, gpu.share.end()) - gpu.share.begin());
}
std::string_view IdleCause(GpuPart part) { return TextOf(part).cause; }
bool IsIdle(GpuPart part) { return part >= GpuPart::kIdleDataLoading; }

bool IsIdleBeforeLaunch(GpuPart part) {
  return part == GpuPart::kIdleLaunch || part == GpuPart::kIdleOperators ||
         part == GpuPart::kIdleAutograd || IsIdleInPython(part);
}

bool IsIdleInPython(GpuPart part) {
  return part == GpuPart::kIdleModel || part == GpuPart::kIdleOptimizer || IsIdleOutside(part);
}

bool IsIdleOutside(GpuPart part) {
  return part == GpuPart::kIdleOwnPython || part == GpuPart::kIdleWaiting ||
         part == GpuPart::kIdlePython;
}

double IdleInPythonShare(const GpuBreakdown& gpu) {
  return SumOfParts(IsIdleInPython,
                    [&](GpuPart part) { return gpu.share[static_cast<size_t>(part)]; });
}

GpuPartGroup GroupOf(GpuPart part) {
  if (part <= GpuPart::kGraph) return GpuPartGroup::kComputing;
  if (part == GpuPart::kCommunication) return GpuPartGroup::kCommunication;
  return IsIdle(part) ? GpuPartGroup::kIdle : GpuPartGroup::kCopies;
}

}  // namespace batchlight
