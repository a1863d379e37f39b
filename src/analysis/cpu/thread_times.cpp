#include "analysis/cpu/thread_times.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/numbers/closed_end.h"

namespace batchlight {
namespace {

ThreadState StateAfter(SwitchKind kind) {
  switch (kind) {
    case SwitchKind::kPreempted:
      return ThreadState::kReady;
    case SwitchKind::kBlocked:
      return ThreadState::kBlocked;
    default:
      return ThreadState::kRunning;
  }
}

using Rows = std::pair<size_t, size_t>;  // [first, second)

// Before its first switch and after its last one a thread ran at least where it was sampled. A
// program that nobody interrupts has no switch for its whole life.
int64_t RunningAround(const Store& store, Rows switches, Rows samples) {
  const CpuSwitchesTable& at = store.cpu_switches;
  const int64_t first_ns =
      store.cpu_samples.start_ns[samples.first] - store.cpu_samples.cpu_ns[samples.first];
  const int64_t last_ns = store.cpu_samples.start_ns[samples.second - 1];
  int64_t running_ns = 0;
  if (at.kind[switches.first] != SwitchKind::kOn) {
    running_ns += std::max<int64_t>(0, at.start_ns[switches.first] - first_ns);
  }
  if (at.kind[switches.second - 1] == SwitchKind::kOn) {
    running_ns += std::max<int64_t>(0, last_ns - at.start_ns[switches.second - 1]);
  }
  return running_ns;
}

// Rows [begin, end) of a table ordered by thread, for each of its threads.
template <typename Table, typename Visitor>
void VisitThreads(const Table& table, Visitor&& visit) {
  for (size_t begin = 0; begin < table.size();) {
    size_t end = begin;
    while (end < table.size() && table.thread[end] == table.thread[begin]) ++end;
    if (!table.thread[begin].IsNone()) visit(table.thread[begin], begin, end);
    begin = end;
  }
}

// The calls of the C library in which the blocked stretches of the same thread lie.
void AddBlockingCalls(const Store& store, const std::vector<ThreadStretch>& stretches,
                      size_t first_call, size_t end_call, ThreadTimes& times) {
  std::map<StringId, int64_t> blocked_ns;
  const OsCallsTable& calls = store.os_calls;
  size_t call = first_call;
  for (const ThreadStretch& stretch : stretches) {
    if (stretch.state != ThreadState::kBlocked) continue;
    while (call < end_call &&
           ClosedEnd(store, calls.start_ns[call], calls.end_ns[call]) < stretch.start_ns) {
      ++call;
    }
    if (call == end_call) break;
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
  std::map<ThreadId, ThreadTimes> threads;
  std::map<ThreadId, Rows> calls;
  std::map<ThreadId, Rows> switches;
  VisitThreads(store.os_calls, [&](ThreadId thread, size_t begin, size_t end) {
    calls[thread] = {begin, end};
  });
  VisitThreads(store.cpu_switches, [&](ThreadId thread, size_t begin, size_t end) {
    ThreadTimes& times = threads[thread];
    switches[thread] = {begin, end};
    for (size_t row = begin; row < end; ++row) {
      times.preempted += store.cpu_switches.kind[row] == SwitchKind::kPreempted ? 1 : 0;
      times.waits += store.cpu_switches.kind[row] == SwitchKind::kBlocked ? 1 : 0;
    }
    const std::vector<ThreadStretch> stretches = StretchesOf(store, begin, end);
    for (const ThreadStretch& stretch : stretches) {
      const int64_t ns = stretch.end_ns - stretch.start_ns;
      (stretch.state == ThreadState::kRunning ? times.running_ns
       : stretch.state == ThreadState::kReady ? times.ready_ns
                                              : times.blocked_ns) += ns;
    }
    const auto found = calls.find(thread);
    if (found != calls.end()) {
      AddBlockingCalls(store, stretches, found->second.first, found->second.second, times);
    }
  });
  VisitThreads(store.cpu_samples, [&](ThreadId thread, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      threads[thread].sampled_ns += store.cpu_samples.cpu_ns[row];
    }
    const auto found = switches.find(thread);
    if (found == switches.end()) return;
    threads[thread].running_ns += RunningAround(store, found->second, {begin, end});
  });
  std::vector<ThreadTimes> result;
  for (auto& [thread, times] : threads) {
    times.thread = thread;
    result.push_back(times);
  }
  std::sort(result.begin(), result.end(), [](const ThreadTimes& a, const ThreadTimes& b) {
    return std::tuple(-std::max(a.running_ns, a.sampled_ns), a.thread) <
           std::tuple(-std::max(b.running_ns, b.sampled_ns), b.thread);
  });
  return result;
}

}  // namespace batchlight
