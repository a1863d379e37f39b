#include "analysis/cpu/thread_times.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/numbers/closed_end.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

ThreadState StateAfter(SwitchKind kind) {
  switch (kind) {
    case SwitchKind::kPreempted:
      return ThreadState::kReady;
    case SwitchKind::kBlocked:
      return ThreadState::kBlocked;
    case SwitchKind::kOff:
      return ThreadState::kOff;
    default:
      return ThreadState::kRunning;
  }
}

using Rows = ThreadSpans::Rows;

// Before its first switch and after its last one a thread ran at least where it was sampled. A
// program that nobody interrupts has no switch for its whole life.
int64_t RunningAround(const Store& store, Rows switches, Rows samples) {
  const CpuSwitchesTable& at = store.cpu_switches;
  const int64_t first_ns =
      store.cpu_samples.start_ns[samples.begin] - store.cpu_samples.cpu_ns[samples.begin];
  const int64_t last_ns = store.cpu_samples.start_ns[samples.end - 1];
  int64_t running_ns = 0;
  if (at.kind[switches.begin] != SwitchKind::kOn) {
    running_ns += std::max<int64_t>(0, at.start_ns[switches.begin] - first_ns);
  }
  if (at.kind[switches.end - 1] == SwitchKind::kOn) {
    running_ns += std::max<int64_t>(0, last_ns - at.start_ns[switches.end - 1]);
  }
  return running_ns;
}

// The calls of the C library in which the blocked stretches of the same thread lie.
void AddBlockingCalls(const Store& store, const std::vector<ThreadStretch>& stretches, Rows rows,
                      ThreadTimes& times) {
  std::map<StringId, int64_t> blocked_ns;
  const OsCallsTable& calls = store.os_calls;
  size_t call = rows.begin;
  for (const ThreadStretch& stretch : stretches) {
    if (stretch.state != ThreadState::kBlocked) continue;
    while (call < rows.end &&
           ClosedEnd(store, calls.start_ns[call], calls.end_ns[call]) < stretch.start_ns) {
      ++call;
    }
    if (call == rows.end) break;
    // A switch comes after the call has begun and before it returns.
    if (calls.start_ns[call] > stretch.start_ns) continue;
    blocked_ns[calls.name[call]] += stretch.end_ns - stretch.start_ns;
  }
  for (const auto& [name, ns] : blocked_ns) {
    if (ns <= times.blocked_in_ns) continue;
    times.blocked_in = name;
    times.blocked_in_ns = ns;
  }
}

ThreadTimes TimesOf(const Store& store, ThreadId thread, Rows switches, Rows samples, Rows calls) {
  ThreadTimes times{.thread = thread};
  for (size_t row = switches.begin; row < switches.end; ++row) {
    times.preempted += store.cpu_switches.kind[row] == SwitchKind::kPreempted ? 1 : 0;
    times.waits += store.cpu_switches.kind[row] == SwitchKind::kBlocked ? 1 : 0;
  }
  const std::vector<ThreadStretch> stretches = StretchesOf(store, switches.begin, switches.end);
  for (const ThreadStretch& stretch : stretches) {
    const int64_t ns = stretch.end_ns - stretch.start_ns;
    (stretch.state == ThreadState::kRunning   ? times.running_ns
     : stretch.state == ThreadState::kReady   ? times.ready_ns
     : stretch.state == ThreadState::kBlocked ? times.blocked_ns
                                              : times.off_ns) += ns;
  }
  AddBlockingCalls(store, stretches, calls, times);
  for (size_t row = samples.begin; row < samples.end; ++row) {
    times.sampled_ns += store.cpu_samples.cpu_ns[row];
  }
  if (!switches.empty() && !samples.empty()) {
    times.running_ns += RunningAround(store, switches, samples);
  }
  return times;
}

}  // namespace

std::vector<ThreadStretch> StretchesOf(const Store& store, size_t begin, size_t end) {
  std::vector<ThreadStretch> stretches;
  const CpuSwitchesTable& switches = store.cpu_switches;
  for (size_t row = begin; row + 1 < end; ++row) {
    const ThreadState state = StateAfter(switches.kind[row]);
    // Two in a row that say the same: one between them was lost.
    if ((state == ThreadState::kRunning) == (switches.kind[row + 1] == SwitchKind::kOn)) continue;
    stretches.push_back({switches.start_ns[row], switches.start_ns[row + 1], state});
  }
  return stretches;
}

std::vector<ThreadTimes> MeasureThreads(const Store& store) {
  const ThreadSpans switches(store.cpu_switches.thread);
  const ThreadSpans samples(store.cpu_samples.thread);
  const ThreadSpans calls(store.os_calls.thread);
  std::vector<ThreadTimes> result;
  for (size_t row = 0; row < std::max(switches.thread_count(), samples.thread_count()); ++row) {
    const ThreadId thread = ThreadId::At(row);
    if (switches.Of(thread).empty() && samples.Of(thread).empty()) continue;
    result.push_back(
        TimesOf(store, thread, switches.Of(thread), samples.Of(thread), calls.Of(thread)));
  }
  std::sort(result.begin(), result.end(), [](const ThreadTimes& a, const ThreadTimes& b) {
    return std::tuple(-std::max(a.running_ns, a.sampled_ns), a.thread) <
           std::tuple(-std::max(b.running_ns, b.sampled_ns), b.thread);
  });
  return result;
}

}  // namespace batchlight
