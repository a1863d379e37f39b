#include "export/text/shown_times.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/numbers/time_span.h"

namespace batchlight {
namespace {

using Spans = std::vector<TimeSpan>;

Spans InBoth(const Spans& a, const Spans& b) {
  Spans both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int64_t start_ns = std::max(a[i].start_ns, b[j].start_ns);
    const int64_t end_ns = std::min(a[i].end_ns, b[j].end_ns);
    if (start_ns < end_ns) both.push_back({start_ns, end_ns});
    a[i].end_ns < b[j].end_ns ? ++i : ++j;
  }
  return both;
}

// The stretches of each process that are shown.
class ShownTimes {
 public:
  ShownTimes(const EventSelection& selection, const StepSet* steps, const Store& store)
      : store_(store) {
    Spans times;
    for (const TimeRange& range : selection.times()) {
      times.push_back({range.start_ns, range.end_ns});
    }
    times = times.empty() ? Spans{{INT64_MIN, INT64_MAX}} : UnionOf(std::move(times));
    by_process_.assign(store.processes.size(), steps == nullptr ? times : Spans{});
    if (steps == nullptr) return;
    for (const ProcessSteps& process : steps->processes) {
      Spans steady;
      for (const uint32_t row : process.steady) {
        AddSpan(steady, process.steps[row].start_ns, process.steps[row].end_ns);
      }
      if (!process.process.IsNone()) by_process_[process.process.row()] = InBoth(steady, times);
    }
  }

  const Spans& Of(ThreadId thread) const {
    const ProcessId process =
        thread.IsNone() ? ProcessId::None() : store_.threads.process[thread.row()];
    return process.IsNone() ? none_ : by_process_[process.row()];
  }
  int64_t NsOf(ThreadId thread, int64_t start_ns, int64_t end_ns) const {
    return NsInside(Of(thread), start_ns, end_ns);
  }
  bool HasAll(ThreadId thread, int64_t start_ns, int64_t end_ns) const {
    const int64_t until_ns = std::max(end_ns, start_ns + 1);  // a moment lies where it is
    return end_ns != kOpenEnd && NsOf(thread, start_ns, until_ns) == until_ns - start_ns;
  }

 private:
  const Store& store_;
  const Spans none_;
  std::vector<Spans> by_process_;  // by row
};

bool KeepPythonSamples(const ShownTimes& shown, PythonSamplesTable& samples) {
  bool any = false;
  for (size_t row = 0; row < samples.size(); ++row) {
    const int64_t all_ns = samples.end_ns[row] - samples.start_ns[row];
    const int64_t ns = shown.NsOf(samples.thread[row], samples.start_ns[row], samples.end_ns[row]);
    any = any || ns > 0;
    if (ns == all_ns) continue;
    if (ns <= 0) samples.python_stack[row] = PythonStackId::None();
    for (int64_t* part_ns : {&samples.cpu_ns[row], &samples.ready_ns[row], &samples.gil_ns[row]}) {
      *part_ns = static_cast<int64_t>(double(*part_ns) * double(ns) / double(all_ns));
    }
    samples.end_ns[row] = samples.start_ns[row] + ns;
  }
  return any;
}

bool KeepCpuSamples(const ShownTimes& shown, CpuSamplesTable& samples) {
  bool any = false;
  for (size_t row = 0; row < samples.size(); ++row) {
    const int64_t at_ns = samples.start_ns[row];
    if (shown.HasAll(samples.thread[row], at_ns, at_ns + 1)) {
      any = true;
    } else {
      samples.native_stack[row] = NativeStackId::None();
    }
  }
  return any;
}

bool KeepOsCalls(const ShownTimes& shown, OsCallsTable& calls) {
  bool any = false;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (shown.HasAll(calls.thread[row], calls.start_ns[row], calls.end_ns[row])) {
      any = any || !calls.native_stack[row].IsNone();
    } else {
      calls.native_stack[row] = NativeStackId::None();
    }
  }
  return any;
}

bool KeepCudaCalls(const ShownTimes& shown, const ApiCallsTable& calls,
                   CudaBacktracesTable& backtraces) {
  bool any = false;
  for (size_t row = 0; row < backtraces.size(); ++row) {
    const ApiCallId call = backtraces.api_call[row];
    if (!call.IsNone() && shown.HasAll(calls.thread[call.row()], calls.start_ns[call.row()],
                                       calls.end_ns[call.row()])) {
      any = true;
    } else {
      backtraces.native_stack[row] = NativeStackId::None();
    }
  }
  return any;
}

}  // namespace

bool KeepShownTimes(const EventSelection& selection, const StepSet* steps, ExportStacks stacks,
                    Store& store) {
  const ShownTimes shown(selection, steps, store);
  switch (stacks) {
    case ExportStacks::kPythonSamples:
      return KeepPythonSamples(shown, store.python_samples);
    case ExportStacks::kNative:
      return KeepCpuSamples(shown, store.cpu_samples);
    case ExportStacks::kOsCalls:
      return KeepOsCalls(shown, store.os_calls);
    default:
      return KeepCudaCalls(shown, store.api_calls, store.cuda_backtraces);
  }
}

}  // namespace batchlight
