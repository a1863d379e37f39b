#include <algorithm>
#include <unordered_map>

#include "analysis/advice/rules.h"
#include "analysis/cuda/cuda_call.h"
#include "analysis/gpu/gpu_summary.h"
#include "analysis/gpu/steady_waits.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

int64_t WaitsOf(const Store& store, const ProcessSteps& main) {
  int64_t waited_ns = 0;
  for (const TimeSpan& wait : WaitsInSteadySteps(store, main)) {
    waited_ns += wait.end_ns - wait.start_ns;
  }
  return waited_ns;
}

int64_t FullQueueOf(const Store& store, const ProcessSteps& main) {
  const ApiCallsTable& calls = store.api_calls;
  StepLookup steps(&main);
  std::unordered_map<StringId, bool> is_launch;
  int64_t waited_ns = 0;
  for (size_t row = 0; row < calls.size(); ++row) {
    const int64_t start = calls.start_ns[row];
    const int64_t length = ClosedEnd(store, start, calls.end_ns[row]) - start;
    if (length <= kLongLaunchNs || store.ProcessOf(calls.thread[row]) != main.process) continue;
    const auto [known, added] = is_launch.try_emplace(calls.name[row], false);
    if (added) known->second = IsLaunch(store.Text(calls.name[row]));
    if (known->second && steps.IsSteadyAt(start)) waited_ns += length - kLongLaunchNs;
  }
  return waited_ns;
}

// Time of a mean step in which the CPU has nothing to do but wait for the GPU, ns.
double CpuSlackNs(const RunMeasures& run, const ProcessSteps& main) {
  const int64_t waited_ns = WaitsOf(*run.store, main) + FullQueueOf(*run.store, main);
  double slack_ns = double(waited_ns) / double(std::max<size_t>(1, main.steady.size()));
  // Where it runs ahead, its steps are shorter than the GPU's.
  const double pace_ns = double(PaceOfGpuNs(*run.gpu.MainBreakdown(), main));
  if (pace_ns > 0) slack_ns += std::max(0.0, pace_ns - main.duration.mean);
  return slack_ns + LikelyRecordingNs(run);
}

}  // namespace

// Without recording the CPU is faster. What its records cost is known as an upper end only, unless
// it was measured.
double LikelyRecordingNs(const RunMeasures& run) {
  const RecordingCost& cost = run.recording_cost;
  if (cost.measured) return std::max(0.0, cost.measured->ns);
  double most_ns = 0;
  for (const RecordedKind& kind : cost.kinds) most_ns += kind.per_step * kind.ns_each;
  return kLikelyRecordingCost * most_ns;
}

double WithinCpuSlack(const RunMeasures& run, double gain_ns, double cpu_ns) {
  if (!CanBeSeen(run, gain_ns)) return gain_ns;  // spares the passes over all calls
  const ProcessSteps* main = run.steps.Main();
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  const bool gpu_is_the_limit =
      gpu == nullptr || LaunchIdleNs(run) < kSomeLaunchIdle * gpu->window.mean;
  if (main == nullptr || gpu_is_the_limit || main->thread.IsNone()) return gain_ns;
  if (run.store->api_calls.size() == 0) return gain_ns;
  return std::min(gain_ns, cpu_ns + CpuSlackNs(run, *main));
}

double WithoutWorkNs(const RunMeasures& run, double gpu_ns, double cpu_ns) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->busy_share <= 0) return gpu_ns;
  return WithinCpuSlack(run, gpu_ns / gpu->busy_share, cpu_ns);
}

double RemovableNs(const RunMeasures& run, double cpu_ns, double gpu_ns) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr) return cpu_ns;
  const double other_ns = std::max(0.0, gpu->busy_share * gpu->window.mean - gpu_ns);
  return std::min(cpu_ns, std::max(0.0, gpu->window.mean - other_ns));
}

}  // namespace batchlight::advice
