#include "analysis/run/steps_alone.h"

#include <algorithm>
#include <utility>

namespace batchlight {

TimesOfSteps::TimesOfSteps(const StepSet& steps, const Store& store) : store_(store) {
  spans_.resize(store.processes.size());
  for (const ProcessSteps& process : steps.processes) {
    if (process.process.IsNone()) continue;
    std::vector<TimeSpan>& spans = spans_[process.process.row()];
    for (const uint32_t row : process.steady) {
      AddSpan(spans, process.steps[row].start_ns, process.steps[row].end_ns);
    }
  }
  for (size_t row = 0; row < spans_.size(); ++row) owners_.push_back(OwnerOf(steps, row));
}

// The process, or the nearest of those that started it, that has steps.
ProcessId TimesOfSteps::OwnerOf(const StepSet& steps, size_t row) const {
  ProcessId process = ProcessId::At(row);
  for (size_t i = 0; i <= spans_.size() && !process.IsNone(); ++i) {
    if (steps.Of(process) != nullptr) return process;
    process = store_.processes.parent[process.row()];
  }
  return {};
}

int64_t TimesOfSteps::NsOf(ProcessId process, int64_t start_ns, int64_t end_ns) const {
  const ProcessId owner = process.IsNone() ? ProcessId::None() : owners_[process.row()];
  return owner.IsNone() ? 0 : NsInside(spans_[owner.row()], start_ns, end_ns);
}

bool TimesOfSteps::Hold(ThreadId thread, int64_t start_ns, int64_t end_ns) const {
  const ProcessId process = store_.ProcessOf(thread);
  if (process.IsNone() || owners_[process.row()].IsNone() || end_ns == kOpenEnd) return false;
  const int64_t until_ns = std::max(end_ns, start_ns + 1);  // a moment lies where it is
  return NsOf(process, start_ns, until_ns) == until_ns - start_ns;
}

void KeepStepsAlone(const StepSet& steps, Store& store) {
  const TimesOfSteps times(steps, store);
  CpuSamplesTable samples;
  for (size_t row = 0; row < store.cpu_samples.size(); ++row) {
    const CpuSamplesRow sample = store.cpu_samples.Row(row);
    if (times.Hold(sample.thread, sample.start_ns, sample.start_ns + 1)) samples.Append(sample);
  }
  OsCallsTable calls;
  for (size_t row = 0; row < store.os_calls.size(); ++row) {
    const OsCallsRow call = store.os_calls.Row(row);
    if (times.Hold(call.thread, call.start_ns, call.end_ns)) calls.Append(call);
  }
  RuntimeEventsTable library_calls;
  for (size_t row = 0; row < store.runtime_events.size(); ++row) {
    const RuntimeEventsRow call = store.runtime_events.Row(row);
    if (times.Hold(call.thread, call.start_ns, call.end_ns)) library_calls.Append(call);
  }
  CudaBacktracesTable backtraces;
  for (size_t row = 0; row < store.cuda_backtraces.size(); ++row) {
    const ApiCallId call = store.cuda_backtraces.api_call[row];
    if (call.IsNone()) continue;
    const ApiCallsTable& of = store.api_calls;
    if (times.Hold(of.thread[call.row()], of.start_ns[call.row()], of.end_ns[call.row()])) {
      backtraces.Append(store.cuda_backtraces.Row(row));
    }
  }
  store.cpu_samples = std::move(samples);
  store.os_calls = std::move(calls);
  store.runtime_events = std::move(library_calls);
  store.cuda_backtraces = std::move(backtraces);
  store.os_call_counts.Clear();
}

}  // namespace batchlight
