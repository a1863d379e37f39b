#include "analysis/gpu/steady_waits.h"

#include "analysis/phases/gpu_waits.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {

std::vector<TimeSpan> WaitsInSteadySteps(const Store& store, const ProcessSteps& steps) {
  StepLookup lookup(&steps);
  std::vector<TimeSpan> found;
  for (const GpuWait& wait : FindGpuWaits(store, steps.thread)) {
    if (wait.kind == PhaseKind::kGpuWait && lookup.IsSteadyAt(wait.start_ns)) {
      found.push_back({wait.start_ns, wait.end_ns});
    }
  }
  return found;
}

}  // namespace batchlight
