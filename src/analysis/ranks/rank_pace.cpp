#include "analysis/ranks/rank_pace.h"

#include <algorithm>
#include <string_view>

#include "analysis/cuda/cuda_call.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// A launch takes 2 to 20 us; one that takes longer waits for room in the queue.
constexpr int64_t kFullQueueNs = 100'000;

double WaitsForGpuNs(const StepBreakdown& breakdown) {
  double ns = 0;
  for (const PhaseShare& phase : breakdown.phases) {
    if (phase.kind == PhaseKind::kGpuWait) ns += phase.steady.mean;
  }
  return ns;
}

// In the mean of the process's steady steps. `rows`: those of api_calls by thread.
double WaitsInLaunchesNs(const Store& store, const ThreadSpans& rows, const ProcessSteps& process) {
  const ApiCallsTable& calls = store.api_calls;
  int64_t ns = 0;
  for (uint32_t thread = 0; thread < rows.thread_count(); ++thread) {
    if (store.threads.process[thread] != process.process) continue;
    StepLookup steps(&process);
    const ThreadSpans::Rows own = rows.Of(ThreadId{thread});
    for (uint32_t row = own.begin; row < own.end; ++row) {
      const int64_t start_ns = calls.start_ns[row];
      const int64_t call_ns = ClosedEnd(store, start_ns, calls.end_ns[row]) - start_ns;
      if (call_ns < kFullQueueNs || !steps.IsSteadyAt(start_ns)) continue;
      const std::string_view name = store.Text(calls.name[row]);
      if (GivesWork(name) && !IsWaitingCall(name)) ns += call_ns;
    }
  }
  return double(ns) / double(std::max<size_t>(1, process.steady.size()));
}

}  // namespace

double StepWithoutRank(const Store& store, const StepSet& steps,
                       const std::vector<StepBreakdown>& breakdowns, const Distributed& distributed,
                       size_t late) {
  const ThreadSpans calls(store.api_calls.thread);
  double step_ns = 0;
  for (size_t i = 0; i < steps.processes.size(); ++i) {
    if (i == late) continue;
    const ProcessSteps& process = steps.processes[i];
    const double cpu_ns = process.duration.mean - WaitsForGpuNs(breakdowns[i]) -
                          WaitsInLaunchesNs(store, calls, process);
    const RankRow& rank = distributed.ranks[i];
    const double gpu_ns = rank.compute_ns + rank.copies_ns +
                          std::max(0.0, rank.exposed_communication_ns - rank.waited_ns);
    step_ns = std::max({step_ns, cpu_ns, gpu_ns});
  }
  return step_ns;
}

}  // namespace batchlight
