#include "analysis/gpu/gpu_idle.h"

#include <algorithm>
#include <span>

#include "analysis/cuda/cuda_call.h"

namespace batchlight {
namespace {

// A launch that reached the GPU this long before the gap ended did not cause it.
constexpr int64_t kLaunchLatencyNs = 20'000;
// Between two pieces of queued work a GPU idles for one to ten microseconds. Processes that share
// it take turns of some hundred microseconds to a few milliseconds (seen on an H100: none between
// 10 and 200 us, 1,000 from there to 7 ms).
constexpr int64_t kElsewhereNs = 100'000;

bool IsDataOrCompile(Phase phase) {
  return phase == Phase::kDataLoaderNext || phase == Phase::kDataLoaderInit ||
         phase == Phase::kCompile;
}

// The first start of a thread's rows after `time_ns`; kOpenEnd if none.
int64_t NextStart(std::span<const int64_t> starts, ThreadSpans::Rows rows, int64_t time_ns) {
  const auto begin = starts.begin() + rows.begin;
  const auto end = starts.begin() + rows.end;
  const auto next = std::upper_bound(begin, end, time_ns);
  return next == end ? kOpenEnd : *next;
}

}  // namespace

GpuIdleExplainer::GpuIdleExplainer(const Store& store)
    : store_(store),
      api_calls_(store.api_calls.thread, store.api_calls.start_ns, store.api_calls.end_ns),
      operators_(store.operator_calls.thread, store.operator_calls.start_ns,
                 store.operator_calls.end_ns),
      waits_for_data_(
          store.phase_calls.thread, store.phase_calls.start_ns, store.phase_calls.end_ns,
          [&store](uint32_t row) { return !IsDataOrCompile(store.phase_calls.phase[row]); }),
      api_spans_(store.api_calls.thread),
      operator_spans_(store.operator_calls.thread),
      phase_spans_(store.phase_calls.thread) {}

bool GpuIdleExplainer::IsWait(uint32_t api_call) const {
  return IsWaitingCall(store_.Text(store_.api_calls.name[api_call]));
}

// What the thread does at `time_ns`; *until_ns: the next moment at which that may change.
GpuPart GpuIdleExplainer::PartAt(ThreadId thread, int64_t time_ns, int64_t* until_ns) const {
  *until_ns =
      std::min({NextStart(store_.api_calls.start_ns, api_spans_.Of(thread), time_ns),
                NextStart(store_.operator_calls.start_ns, operator_spans_.Of(thread), time_ns),
                NextStart(store_.phase_calls.start_ns, phase_spans_.Of(thread), time_ns)});
  const uint32_t phase = waits_for_data_.Innermost(thread, time_ns);
  if (phase != kNoRow) {
    *until_ns = std::min(*until_ns, store_.phase_calls.end_ns[phase]);
    return store_.phase_calls.phase[phase] == Phase::kCompile ? GpuPart::kIdleCompile
                                                              : GpuPart::kIdleDataLoading;
  }
  const uint32_t call = api_calls_.Innermost(thread, time_ns);
  if (call != kNoRow) {
    *until_ns = std::min(*until_ns, store_.api_calls.end_ns[call]);
    return IsWait(call) ? GpuPart::kIdleSynchronization : GpuPart::kIdleLaunch;
  }
  const uint32_t op = operators_.Innermost(thread, time_ns);
  if (op != kNoRow) {
    *until_ns = std::min(*until_ns, store_.operator_calls.end_ns[op]);
    return GpuPart::kIdleOperators;
  }
  return GpuPart::kIdlePython;
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

}  // namespace batchlight
