#include "analysis/run/step_rate.h"

#include <algorithm>

#include "analysis/run/run_measures.h"

namespace batchlight {

StepRate RateOfSteps(const RunMeasures& run, size_t process) {
  if (process >= run.steps.processes.size()) return {};
  const ProcessSteps& steps = run.steps.processes[process];
  StepRate rate{.period_ns = steps.duration.mean + double(std::max<int64_t>(0, steps.between_ns))};
  for (const GpuBreakdown& gpu : run.gpu.breakdowns) {
    if (gpu.process != steps.process || PaceOfGpuNs(gpu, steps) == 0) continue;
    rate = {.period_ns = std::max(rate.period_ns, gpu.window.mean), .of_gpu = true};
  }
  return rate;
}

}  // namespace batchlight
