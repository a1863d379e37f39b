#include "analysis/run/step_rate.h"

#include <algorithm>

#include "analysis/run/run_measures.h"

namespace batchlight {

StepRate RateOfSteps(const RunMeasures& run, size_t process) {
  if (process >= run.steps.processes.size()) return {};
  const ProcessSteps& steps = run.steps.processes[process];
  const double between_ns = double(std::max<int64_t>(0, steps.between_ns));
  StepRate rate{.period_ns = double(steps.duration.median) + between_ns,
                .mean_period_ns = steps.duration.mean + between_ns};
  for (const GpuBreakdown& gpu : run.gpu.breakdowns) {
    if (gpu.process != steps.process) continue;
    const double pace_ns = double(PaceOfGpuNs(gpu, steps));
    if (pace_ns <= rate.period_ns) continue;
    rate = {.period_ns = pace_ns, .mean_period_ns = gpu.window.mean, .of_gpu = true};
  }
  return rate;
}

}  // namespace batchlight
