// The parts of FindPhaseEvents() (phase_events.h): each adds the events of one track to its groups.
#pragma once

#include <vector>

#include "analysis/breakdown/event_groups.h"
#include "analysis/gpu/gpu_idle.h"
#include "analysis/gpu/gpu_launches.h"
#include "analysis/steps/step_inputs.h"

namespace batchlight {

void AddCpuEvents(const StepInputs& inputs, const CallSpans& spans, const ProcessSteps& steps,
                  const StepBreakdown& breakdown, const std::vector<ThreadId>& working_threads,
                  EventGroups& groups);

// `launches`: of this device, in any order.
void AddGpuEvents(const Store& store, const CallSpans& spans, const GpuIdleExplainer& idle,
                  const ProcessSteps& steps, const GpuBreakdown& breakdown, const DeviceWork& work,
                  std::vector<GpuLaunch> launches, EventGroups& groups);

}  // namespace batchlight
