#include "analysis/ranks/rank_pace.h"

#include <algorithm>
#include <string_view>

#include "analysis/cuda/cuda_call.h"
#include "analysis/steps/step_lookup.h"

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

bool Launches(std::string_view api_name) {
  return api_name.find("Launch") != api_name.npos || api_name.find("Async") != api_name.npos;
}

// In the mean of the process's steady steps.
double WaitsInLaunchesNs(const Store& store, const ProcessSteps& process) {
  const ApiCallsTable& calls = store.api_calls;
  StepLookup steps(&process);
  double ns = 0;
  for (size_t row = 0; row < calls.size(); ++row) {
    const int64_t call_ns = calls.end_ns[row] - calls.start_ns[row];
    if (call_ns < kFullQueueNs || store.ProcessOf(calls.thread[row]) != process.process) continue;
    const std::string_view name = store.Text(calls.name[row]);
    if (Launches(name) && !IsWaitingCall(name) && steps.IsSteadyAt(calls.start_ns[row])) {
      ns += double(call_ns);
    }
  }
  return ns / double(std::max<size_t>(1, process.steady.size()));
}

}  // namespace

double StepWithoutRank(const Store& store, const StepSet& steps,
                       const std::vector<StepBreakdown>& breakdowns, const Distributed& distributed,
                       size_t late) {
  double step_ns = 0;
  for (size_t i = 0; i < steps.processes.size(); ++i) {
    if (i == late) continue;
    const ProcessSteps& process = steps.processes[i];
    const double cpu_ns =
        process.duration.mean - WaitsForGpuNs(breakdowns[i]) - WaitsInLaunchesNs(store, process);
    const RankRow& rank = distributed.ranks[i];
    const double gpu_ns = rank.compute_ns + rank.copies_ns +
                          std::max(0.0, rank.exposed_communication_ns - rank.waited_ns);
    step_ns = std::max({step_ns, cpu_ns, gpu_ns});
  }
  return step_ns;
}

}  // namespace batchlight
