#include "analysis/gpu/gpu_idle.h"

#include <algorithm>

#include "analysis/cpu/thread_times.h"
#include "analysis/cuda/cuda_call.h"
#include "analysis/gpu/gpu_launches.h"
#include "analysis/lines/look_times.h"
#include "analysis/lines/stack_lines.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/owners/view_operators.h"

namespace batchlight {
namespace {

// A launch that reached the GPU this long before the gap ended did not cause it.
constexpr int64_t kLaunchLatencyNs = 20'000;
// Between two pieces of queued work a GPU idles for one to ten microseconds. Processes that share
// it take turns of some hundred microseconds to a few milliseconds (seen on an H100: none between
// 10 and 200 us, 1,000 from there to 7 ms).
constexpr int64_t kElsewhereNs = 100'000;
// An operator that calls nothing of CUDA for so long computes. Views and empty tensors take less.
constexpr int64_t kComputesNs = 10'000;

// Of the time between two looks in which it did not wait for what is recorded, so that the thread
// ran.
constexpr double kRuns = 0.5;

// Operators that compute nothing, however long they take.
bool OnlyLooks(std::string_view name) {
  constexpr std::string_view kOthers[] = {"_local_scalar_dense",
                                          "_reshape_alias",
                                          "_unsafe_view",
                                          "alias",
                                          "contiguous",
                                          "detach_",
                                          "diagonal",
                                          "empty",
                                          "empty_like",
                                          "empty_strided",
                                          "is_pinned",
                                          "item",
                                          "lift_fresh",
                                          "new_empty",
                                          "pin_memory",
                                          "_pin_memory",
                                          "real",
                                          "record_stream",
                                          "resize_",
                                          "result_type",
                                          "set_",
                                          "split_with_sizes",
                                          "squeeze_",
                                          "unflatten",
                                          "unsqueeze_",
                                          "view_as_complex",
                                          "view_as_real"};
  return IsViewOperator(name) ||
         std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
}

bool IsOutsideModel(PhaseKind kind) {
  return kind == PhaseKind::kDataLoading || kind == PhaseKind::kCompile;
}

// What Python around operators is for; kIdlePython: the kind does not say.
GpuPart PartOfKind(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::kDataLoading:
      return GpuPart::kIdleDataLoading;
    case PhaseKind::kCompile:
      return GpuPart::kIdleCompile;
    case PhaseKind::kForward:
    case PhaseKind::kLoss:
      return GpuPart::kIdleModel;
    case PhaseKind::kBackward:
      return GpuPart::kIdleAutograd;
    case PhaseKind::kOptimizer:
    case PhaseKind::kZeroGrad:
      return GpuPart::kIdleOptimizer;
    default:
      return GpuPart::kIdlePython;
  }
}

}  // namespace

GpuIdleExplainer::GpuIdleExplainer(const StepInputs& inputs)
    : store_(inputs.store),
      api_calls_(store_.api_calls.thread, store_.api_calls.start_ns, store_.api_calls.end_ns),
      operators_(inputs.operators()) {
  AddMarks(inputs.marks);
  AddSystemCalls();
  AddPythonSamples(inputs.marks);
  AddSwitches();
  AddRecorder();
  for (ThreadParts* parts : {&no_processor_, &recorder_, &outside_model_, &system_calls_, &kept_,
                             &own_python_, &loop_}) {
    parts->Finish();
  }
}

void GpuIdleExplainer::AddMarks(const PhaseMarks& marks) {
  for (const PhaseMark& mark : marks.all()) {
    const GpuPart part = PartOfKind(mark.kind);
    if (part == GpuPart::kIdlePython) continue;
    ThreadParts& parts = IsOutsideModel(mark.kind) ? outside_model_ : loop_;
    parts.Add(mark.thread, mark.start_ns, mark.end_ns, part);
    if (mark.kind == PhaseKind::kBackward) {
      backward_[store_.ProcessOf(mark.thread)].push_back({mark.start_ns, mark.end_ns});
    }
  }
  for (auto& [process, spans] : backward_) spans = UnionOf(std::move(spans));
}

void GpuIdleExplainer::AddSystemCalls() {
  const OsCallsTable& calls = store_.os_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    system_calls_.Add(calls.thread[row], calls.start_ns[row], calls.end_ns[row],
                      GpuPart::kIdleSystemCall);
  }
}

// A look finds a thread behind what it waited for since the look before.
GpuIdleExplainer::SpansOfThreads GpuIdleExplainer::RecordedWaits(const PhaseMarks& marks) const {
  SpansOfThreads waits;
  for (const PhaseMark& mark : marks.all()) {
    if (IsOutsideModel(mark.kind)) waits[mark.thread].push_back({mark.start_ns, mark.end_ns});
  }
  const OsCallsTable& os = store_.os_calls;
  for (size_t row = 0; row < os.size(); ++row) {
    waits[os.thread[row]].push_back({os.start_ns[row], os.end_ns[row]});
  }
  const ApiCallsTable& cuda = store_.api_calls;
  std::map<StringId, bool> names;  // whether it waits
  for (size_t row = 0; row < cuda.size(); ++row) {
    const auto [name, is_new] = names.try_emplace(cuda.name[row]);
    if (is_new) name->second = IsWait(uint32_t(row));
    if (name->second) waits[cuda.thread[row]].push_back({cuda.start_ns[row], cuda.end_ns[row]});
  }
  for (auto& [thread, spans] : waits) spans = UnionOf(std::move(spans));
  return waits;
}

void GpuIdleExplainer::AddPythonSamples(const PhaseMarks& marks) {
  const PythonSamplesTable& samples = store_.python_samples;
  if (samples.size() == 0) return;
  const StackLines lines(store_);
  SpansOfThreads recorded = RecordedWaits(marks);
  for (size_t row = 0; row < samples.size(); ++row) {
    const int64_t start_ns = samples.start_ns[row], end_ns = samples.end_ns[row];
    if (samples.gil[row] == GilState::kWaits) {
      kept_.Add(samples.thread[row], start_ns, end_ns, GpuPart::kIdleGil);
      continue;
    }
    if (samples.python_stack[row].IsNone()) continue;
    const int64_t waited_ns = NsInside(recorded[samples.thread[row]], start_ns, end_ns);
    const double enough_ns = kRuns * double(end_ns - start_ns - waited_ns);
    const LookTimes times = TimesOfLooks(samples, row);
    if (double(times.ready_ns) > enough_ns) {
      kept_.Add(samples.thread[row], start_ns, end_ns, GpuPart::kIdleNoProcessor);
      continue;
    }
    if (lines.Of(samples.python_stack[row]).records) {
      kept_.Add(samples.thread[row], start_ns, end_ns, GpuPart::kIdleRecorder);
      continue;
    }
    const bool waits =
        double(times.ran_ns + times.gil_ns) < enough_ns - kRuns * double(times.ready_ns);
    own_python_.Add(samples.thread[row], start_ns, end_ns,
                    waits ? GpuPart::kIdleWaiting : GpuPart::kIdleOwnPython);
  }
}

// What it does for itself, where it said so.
void GpuIdleExplainer::AddRecorder() {
  const PhaseCallsTable& calls = store_.phase_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.phase[row] != Phase::kLook || calls.end_ns[row] <= calls.start_ns[row]) continue;
    recorder_.Add(calls.thread[row], calls.start_ns[row],
                  ClosedEnd(store_, calls.start_ns[row], calls.end_ns[row]),
                  GpuPart::kIdleRecorder);
  }
}

void GpuIdleExplainer::AddSwitches() {
  const CpuSwitchesTable& switches = store_.cpu_switches;
  for (size_t begin = 0; begin < switches.size();) {
    size_t end = begin;
    while (end < switches.size() && switches.thread[end] == switches.thread[begin]) ++end;
    for (const ThreadStretch& stretch : StretchesOf(store_, begin, end)) {
      if (stretch.state != ThreadState::kReady) continue;
      no_processor_.Add(switches.thread[begin], stretch.start_ns, stretch.end_ns,
                        GpuPart::kIdleNoProcessor);
    }
    begin = end;
  }
}

bool GpuIdleExplainer::IsWait(uint32_t api_call) const {
  return IsWaitingCall(store_.Text(store_.api_calls.name[api_call]));
}

bool GpuIdleExplainer::IsOnCpuTensors(uint32_t op) const {
  const OperatorCallsTable& ops = store_.operator_calls;
  const int64_t start_ns = ops.start_ns[op], end_ns = ops.end_ns[op];
  if (end_ns - start_ns < kComputesNs) return false;
  constexpr std::string_view kAten = "aten::";
  const std::string_view name = store_.Text(ops.name[op]);
  if (!name.starts_with(kAten) || OnlyLooks(name.substr(kAten.size()))) return false;
  // One that calls others is on its way to what computes, or looks at a tensor in several ways.
  if (operators_.LookAt(ops.thread[op], start_ns).next_start_ns < end_ns) return false;
  return api_calls_.LookAt(ops.thread[op], start_ns - 1).next_start_ns >= end_ns;
}

// What the thread does at `time_ns`; *until_ns: the next moment at which that may change.
GpuPart GpuIdleExplainer::PartAt(ThreadId thread, int64_t time_ns, int64_t* until_ns) const {
  const auto [call, next_call_ns] = api_calls_.LookAt(thread, time_ns);
  const auto [op, next_op_ns] = operators_.LookAt(thread, time_ns);
  *until_ns = std::min(next_call_ns, next_op_ns);
  for (const ThreadParts* parts : {&no_processor_, &recorder_, &outside_model_}) {
    if (const auto part = parts->At(thread, time_ns, until_ns)) return *part;
  }
  if (call != kNoRow) {
    *until_ns = std::min(*until_ns, store_.api_calls.end_ns[call]);
    return IsWait(call) ? GpuPart::kIdleSynchronization : GpuPart::kIdleLaunch;
  }
  if (op != kNoRow) {
    *until_ns = std::min(*until_ns, store_.operator_calls.end_ns[op]);
    return IsOnCpuTensors(op) ? GpuPart::kIdleCpuTensors : GpuPart::kIdleOperators;
  }
  return AroundOperators(thread, time_ns, until_ns);
}

GpuPart GpuIdleExplainer::AroundOperators(ThreadId thread, int64_t time_ns,
                                          int64_t* until_ns) const {
  for (const ThreadParts* parts : {&system_calls_, &kept_, &loop_}) {
    if (const auto part = parts->At(thread, time_ns, until_ns)) return *part;
  }
  // Autograd's own thread, while the one of the loop waits for it.
  const auto backward = backward_.find(store_.ProcessOf(thread));
  if (backward == backward_.end()) return OutsideModel(thread, time_ns, until_ns);
  const auto span = std::upper_bound(
      backward->second.begin(), backward->second.end(), time_ns,
      [](int64_t time, const TimeSpan& candidate) { return time < candidate.end_ns; });
  if (span == backward->second.end()) return OutsideModel(thread, time_ns, until_ns);
  const bool inside = span->start_ns <= time_ns;
  *until_ns = std::min(*until_ns, inside ? span->end_ns : span->start_ns);
  return inside ? GpuPart::kIdleAutograd : OutsideModel(thread, time_ns, until_ns);
}

GpuPart GpuIdleExplainer::OutsideModel(ThreadId thread, int64_t time_ns, int64_t* until_ns) const {
  return own_python_.At(thread, time_ns, until_ns).value_or(GpuPart::kIdlePython);
}

void GpuIdleExplainer::Explain(int64_t start_ns, int64_t end_ns, ApiCallId call,
                               const std::function<void(const IdleStretch&)>& visit) const {
  if (start_ns >= end_ns) return;
  if (call.IsNone()) return visit({GpuPart::kIdleQueue, start_ns, end_ns, ThreadId::None()});
  // Until the launching call ended, the GPU waited for the CPU. The rest, beyond the time that a
  // launch takes to arrive, is the GPU waiting for itself.
  const int64_t launched_ns = store_.api_calls.end_ns[call.row()];
  const int64_t cpu_until_ns = std::clamp(launched_ns, start_ns, end_ns);
  const ThreadId thread = store_.api_calls.thread[call.row()];
  for (int64_t now_ns = start_ns; now_ns < cpu_until_ns;) {
    int64_t until_ns = kOpenEnd;
    const GpuPart part = PartAt(thread, now_ns, &until_ns);
    until_ns = std::clamp(until_ns, now_ns + 1, cpu_until_ns);
    visit({part, now_ns, until_ns, thread});
    now_ns = until_ns;
  }
  const int64_t arrived_ns =
      cpu_until_ns > start_ns ? std::min(end_ns, cpu_until_ns + kLaunchLatencyNs) : start_ns;
  if (cpu_until_ns < arrived_ns) {
    visit({GpuPart::kIdleLaunch, cpu_until_ns, arrived_ns, ThreadId::None()});
  }
  if (arrived_ns >= end_ns) return;
  const bool elsewhere = end_ns - arrived_ns >= kElsewhereNs;
  visit({elsewhere ? GpuPart::kIdleElsewhere : GpuPart::kIdleQueue, arrived_ns, end_ns,
         ThreadId::None()});
}

void VisitIdleGaps(const Store& store,
                   const std::function<void(int64_t, int64_t, ApiCallId)>& visit) {
  const std::vector<DeviceWork> devices = CollectDeviceWork(store);
  const std::vector<GpuLaunches> launches = FindGpuLaunches(store, devices);
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::vector<TimeSpan> busy = BusyOf(devices[i]);
    if (busy.empty()) continue;
    VisitGaps(busy, busy.front().start_ns, busy.back().end_ns, [&](int64_t from_ns, int64_t to_ns) {
      const auto next = launches[i].FirstFrom(to_ns);
      if (next && !next->call.IsNone()) visit(from_ns, to_ns, next->call);
    });
  }
}

}  // namespace batchlight
