#include "analysis/breakdown/beside_model.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/breakdown/loop_owners.h"
#include "analysis/breakdown/phase_stretches.h"
#include "analysis/cuda/cuda_call.h"
#include "analysis/gpu/gpu_idle.h"
#include "analysis/gpu/gpu_launches.h"
#include "analysis/gpu/steady_waits.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/time_span.h"
#include "analysis/owners/autograd_numbers.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

// Of the steps: where less is beside the model, it holds nothing back that is worth a word.
constexpr double kLeastBeside = 0.05;
constexpr double kMostOfIt = 0.5;
// A kernel that takes about as long as its launch.
constexpr int64_t kShortKernelNs = 10'000;

using Spans = std::vector<TimeSpan>;

// The loop's thread in steady steps.
struct Stretches {
  Spans beside;   // outside of the model, the optimizer and loading
  Spans plain;    // of these, in no range of the user's and in no wait, nothing that learns
  Spans copying;  // of these, batches that go to the GPU
  Spans model;
  int64_t all_ns = 0;
};

// Whether a stretch of the thread has operators that autograd follows: a loss that is no module, a
// model of plain tensors. For stretches in order of time.
class Learning {
 public:
  Learning(const StepInputs& inputs, ThreadId thread)
      : store_(inputs.store), rows_(inputs.operator_rows.Of(thread)), row_(rows_.begin) {
    const auto first = store_.operator_calls.sequence.begin();
    known_ = std::any_of(first + rows_.begin, first + rows_.end,
                         [](int64_t sequence) { return sequence >= 0; });
  }

  bool IsIn(int64_t start_ns, int64_t end_ns) {
    const std::vector<int64_t>& starts = store_.operator_calls.start_ns;
    while (row_ < rows_.end && starts[row_] < start_ns) ++row_;
    for (; row_ < rows_.end && starts[row_] < end_ns; ++row_) {
      if (known_ && IsFollowed(store_, row_)) return true;
    }
    return false;
  }

 private:
  const Store& store_;
  const ThreadSpans::Rows rows_;
  uint32_t row_;
  bool known_ = false;
};

Stretches FindStretches(const StepInputs& inputs, const ProcessSteps& steps) {
  std::vector<bool> steady(steps.steps.size());
  for (const uint32_t step : steps.steady) steady[step] = true;
  Stretches found;
  Learning learning(inputs, steps.thread);
  const bool is_fused = HasFusedUpdates(inputs.store, steps.thread);
  VisitPhaseStretches(inputs, steps, [&](const PhaseStretch& stretch) {
    if (!steady[stretch.step]) return;
    const auto add = [&](Spans& spans) { AddSpan(spans, stretch.start_ns, stretch.end_ns); };
    found.all_ns += stretch.end_ns - stretch.start_ns;
    switch (stretch.kind) {
      case PhaseKind::kOther:
        if (!learning.IsIn(stretch.start_ns, stretch.end_ns)) add(found.plain);
        return add(found.beside);
      case PhaseKind::kCopyToDevice:
        add(found.copying);
        return add(found.beside);
      case PhaseKind::kUserRange:
      case PhaseKind::kGpuWait:
        return add(found.beside);
      case PhaseKind::kOptimizer:
        return add(is_fused ? found.beside : found.model);
      default:
        if (IsOfModel(stretch.kind)) add(found.model);
    }
  });
  return found;
}

int64_t NsOf(const Spans& spans) {
  int64_t ns = 0;
  for (const TimeSpan& span : spans) ns += span.end_ns - span.start_ns;
  return ns;
}

// The GPU of the loop, and what it did.
struct LoopDevice {
  Spans busy;
  std::vector<GpuLaunch> launches;  // by start
};

std::optional<LoopDevice> FindDevice(const Store& store, ProcessId process) {
  const std::vector<DeviceWork> devices = CollectDeviceWork(store);
  const auto of_loop = std::find_if(devices.begin(), devices.end(), [&](const DeviceWork& device) {
    return device.process == process;
  });
  if (of_loop == devices.end()) return std::nullopt;
  LoopDevice device;
  for (const Spans& work : of_loop->work) device.busy = UniteSpans(device.busy, work);
  if (device.busy.empty()) return std::nullopt;
  device.launches =
      std::move(CollectGpuLaunches(store, devices)[size_t(of_loop - devices.begin())]);
  SortByStart(device.launches);
  return device;
}

class Counter {
 public:
  Counter(const StepInputs& inputs, const ProcessSteps& steps, const Stretches& stretches,
          const LoopOwners& owners, const CodeSamples& samples, LoopDevice device)
      : inputs_(inputs),
        store_(inputs.store),
        steps_(steps),
        stretches_(stretches),
        owners_(owners),
        samples_(samples),
        device_(std::move(device)),
        held_(owners.functions.size()) {}

  BesideModel Count() {
    AddIdle();
    AddWork();
    AddWaits();
    for (uint32_t row = 0; row < held_.size(); ++row) {
      if (!IsToTell(row) || held_[row].HeldNs() <= found_.most.HeldNs()) continue;
      found_.most = held_[row];
      most_ = row;
    }
    if (most_ != kNoRow) NameMost(most_);
    AddOtherWaits();
    Divide();
    return found_;
  }

 private:
  // The loop itself is many things, which cannot be taken out as one, and to launch and to wait is
  // what it is for: only where it mostly computes on the CPU.
  bool IsToTell(uint32_t row) const {
    if (!owners_.functions[row].runs_model) return true;
    const HoldingFunction& held = held_[row];
    const auto idle_ns = [&](GpuPart part) { return held.idle_ns[static_cast<size_t>(part)]; };
    const double computes_ns =
        idle_ns(GpuPart::kIdleCpuTensors) + SumOfParts(IsIdleOutside, idle_ns);
    return computes_ns > kMostOfIt * held.HeldNs();
  }

  // The function that the loop is in then; kNoRow: none is known.
  uint32_t OwnerAt(int64_t time_ns) const {
    const auto after =
        std::upper_bound(owners_.spans.begin(), owners_.spans.end(), time_ns,
                         [](int64_t time, const OwnedSpan& span) { return time < span.end_ns; });
    if (after == owners_.spans.end() || after->start_ns > time_ns) return kNoRow;
    return Counts(after->function, time_ns) ? after->function : kNoRow;
  }

  // What the loop itself copies to the GPU are its batches.
  bool Counts(uint32_t function, int64_t time_ns) const {
    return !owners_.functions[function].runs_model ||
           NsInside(stretches_.copying, time_ns, time_ns + 1) == 0;
  }

  uint32_t OwnerOf(ApiCallId call) const {
    if (call.IsNone() || store_.api_calls.thread[call.row()] != steps_.thread) return kNoRow;
    return OwnerAt(store_.api_calls.start_ns[call.row()]);
  }

  void AddIdle() {
    const GpuIdleExplainer explainer(inputs_);
    size_t at = 0;
    const Spans& busy = device_.busy;
    VisitGaps(busy, busy.front().start_ns, busy.back().end_ns, [&](int64_t from_ns, int64_t to_ns) {
      const auto next = FirstFrom(device_.launches, to_ns);
      const ApiCallId call = next == device_.launches.end() ? ApiCallId::None() : next->call;
      const uint32_t launcher = OwnerOf(call);
      if (launcher == kNoRow && NsInside(stretches_.beside, from_ns, to_ns, at) == 0) return;
      explainer.Explain(from_ns, to_ns, call, [&](const IdleStretch& idle) {
        if (idle.part == GpuPart::kIdleElsewhere) return;
        if (!idle.thread.IsNone()) return AddStretch(idle);
        // Nobody's but the one's that launched what comes.
        if (launcher != kNoRow) AddIdleOf(launcher, idle.part, idle.end_ns - idle.start_ns);
      });
    });
  }

  // Whoever launches next: as long as the loop is in a function, backward's thread has nothing.
  void AddStretch(const IdleStretch& idle) {
    if (IsIdleBeforeLaunch(idle.part) && idle.thread == steps_.thread) {
      plain_idle_ns_ += NsInside(stretches_.plain, idle.start_ns, idle.end_ns, plain_at_);
    }
    auto span =
        std::upper_bound(owners_.spans.begin(), owners_.spans.end(), idle.start_ns,
                         [](int64_t time, const OwnedSpan& owned) { return time < owned.end_ns; });
    for (; span != owners_.spans.end() && span->start_ns < idle.end_ns; ++span) {
      const int64_t from_ns = std::max(span->start_ns, idle.start_ns);
      if (!Counts(span->function, from_ns)) continue;
      AddIdleOf(span->function, idle.part, std::min(span->end_ns, idle.end_ns) - from_ns);
    }
  }

  void AddIdleOf(uint32_t function, GpuPart part, int64_t ns) {
    held_[function].idle_ns[static_cast<size_t>(part)] += double(ns);
  }

  // Kernels that take longer have to run somewhere.
  static bool IsShortKernel(const GpuLaunch& launch) {
    return launch.table == GpuTable::kKernels && launch.end_ns - launch.start_ns <= kShortKernelNs;
  }
  static bool IsCopy(const GpuLaunch& launch) {
    return launch.table == GpuTable::kMemcpys || launch.table == GpuTable::kMemsets;
  }

  // As if nothing else ran meanwhile; of the chosen function it is measured.
  void AddWork() {
    for (const GpuLaunch& launch : device_.launches) {
      if (!IsCopy(launch) && !IsShortKernel(launch)) continue;
      const uint32_t owner = OwnerOf(launch.call);
      if (owner == kNoRow) continue;
      HoldingFunction& held = held_[owner];
      const auto ns = double(launch.end_ns - launch.start_ns);
      (IsCopy(launch) ? held.copy_ns : held.launch_ns) += ns;
      if (launch.table != GpuTable::kMemcpys) continue;
      const MemcpysTable& copies = store_.memcpys;
      if (copies.source_kind[launch.row] != MemoryKind::kPageable &&
          copies.destination_kind[launch.row] != MemoryKind::kPageable) {
        continue;
      }
      ++held.pageable_copies;
      held.pageable_bytes += double(copies.bytes[launch.row]);
      held.pageable_ns += ns;
    }
  }

  // visit(start, end) for the loop's calls that wait for the GPU, in steady steps.
  template <typename Visit>
  void VisitWaitingCalls(Visit&& visit) {
    const ApiCallsTable& calls = store_.api_calls;
    std::unordered_map<StringId, bool> is_wait;
    StepLookup lookup(&steps_);
    const ThreadSpans::Rows rows = ThreadSpans(calls.thread).Of(steps_.thread);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const auto [known, added] = is_wait.try_emplace(calls.name[row], false);
      if (added) known->second = IsWaitingCall(store_.Text(calls.name[row]));
      if (!known->second || !lookup.IsSteadyAt(calls.start_ns[row])) continue;
      visit(calls.start_ns[row], ClosedEnd(store_, calls.start_ns[row], calls.end_ns[row]));
    }
  }

  void AddWaits() {
    VisitWaitingCalls([&](int64_t start_ns, int64_t end_ns) {
      ++found_.other_waits;
      const uint32_t owner = OwnerAt(start_ns);
      if (owner == kNoRow) return;
      ++held_[owner].waits;
      held_[owner].wait_ns += double(end_ns - start_ns);
    });
  }

  void AddOtherWaits() {
    found_.other_waits -= found_.most.waits;
    for (const TimeSpan& wait : WaitsInSteadySteps(store_, steps_)) {
      const uint32_t owner = OwnerAt(wait.start_ns);
      if (owner != kNoRow && owner == most_) continue;
      found_.other_wait_ns += double(wait.end_ns - wait.start_ns);
    }
  }

  void NameMost(uint32_t row) {
    const LoopFunction& function = owners_.functions[row];
    HoldingFunction& most = found_.most;
    most.function = function.function;
    for (const OwnedSpan& span : owners_.spans) {
      if (span.function == row) most.cpu_ns += double(span.end_ns - span.start_ns);
    }
    const auto looked_ns = double(std::max<int64_t>(1, function.function.ns));
    const auto part = [&](int64_t ns) {
      return most.cpu_ns * std::min(1.0, double(ns) / looked_ns);
    };
    most.awake_ns = part(function.times.awake_ns());
    most.ready_ns = part(function.times.ready_ns);
    // What the GPU does meanwhile is not saved.
    Spans without_copies, without_both;
    for (const GpuLaunch& launch : device_.launches) {
      const bool own = (IsCopy(launch) || IsShortKernel(launch)) && OwnerOf(launch.call) == row;
      if (!own || !IsCopy(launch)) AddSpan(without_copies, launch.start_ns, launch.end_ns);
      if (!own) AddSpan(without_both, launch.start_ns, launch.end_ns);
    }
    most.copy_ns = double(NsOf(device_.busy) - NsOf(without_copies));
    most.launch_ns = double(NsOf(without_copies) - NsOf(without_both));
    NameInside(row, without_both);
  }

  // What it is in while the GPU does nothing `others` asked for: not where it waits for them.
  void NameInside(uint32_t row, const Spans& others) {
    Spans held;
    for (const OwnedSpan& span : owners_.spans) {
      if (span.function != row) continue;
      VisitGaps(others, span.start_ns, span.end_ns,
                [&](int64_t from_ns, int64_t to_ns) { AddSpan(held, from_ns, to_ns); });
    }
    HoldingFunction& most = found_.most;
    most.inside = samples_.During(steps_.thread, held);
    for (const SampledFunction& inner : most.inside.functions) {
      const bool is_itself =
          inner.file == most.function.file && inner.function == most.function.function;
      if (is_itself) most.function.line = inner.line;
    }
    most.function.longest = LongestOf(held);
  }

  void Divide() {
    const auto count = double(steps_.steady.size());
    HoldingFunction& most = found_.most;
    for (double& ns : most.idle_ns) ns /= count;
    for (double* sum :
         {&most.cpu_ns, &most.awake_ns, &most.ready_ns, &most.copy_ns, &most.launch_ns,
          &most.pageable_copies, &most.pageable_bytes, &most.pageable_ns, &most.waits,
          &most.wait_ns, &found_.other_waits, &found_.other_wait_ns}) {
      *sum /= count;
    }
    found_.launch_idle_ns = double(plain_idle_ns_) / count;
  }

  const StepInputs& inputs_;
  const Store& store_;
  const ProcessSteps& steps_;
  const Stretches& stretches_;
  const LoopOwners& owners_;
  const CodeSamples& samples_;
  LoopDevice device_;
  std::vector<HoldingFunction> held_;  // by row of the functions; sums
  uint32_t most_ = kNoRow;             // the one that is told
  BesideModel found_;
  int64_t plain_idle_ns_ = 0;
  size_t plain_at_ = 0;
};

}  // namespace

double HoldingFunction::AllIdleNs() const {
  double ns = 0;
  for (const double part_ns : idle_ns) ns += part_ns;
  return ns;
}

double HoldingFunction::LaunchIdleNs() const {
  return SumOfParts(IsIdleBeforeLaunch,
                    [&](GpuPart part) { return idle_ns[static_cast<size_t>(part)]; });
}

BesideModel FindBesideModel(const StepInputs& inputs, const ProcessSteps& steps,
                            const CodeSamples& samples) {
  if (inputs.store.kernels.size() == 0 || steps.thread.IsNone() || steps.steady.empty()) return {};
  const Stretches stretches = FindStretches(inputs, steps);
  if (double(NsOf(stretches.beside)) < kLeastBeside * double(stretches.all_ns)) return {};
  std::optional<LoopDevice> device = FindDevice(inputs.store, steps.process);
  if (!device) return {};
  const LoopOwners owners =
      FindLoopOwners(samples, steps.thread, stretches.beside, stretches.model);
  return Counter(inputs, steps, stretches, owners, samples, *std::move(device)).Count();
}

}  // namespace batchlight
