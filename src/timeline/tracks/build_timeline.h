// From a store to its timeline.
#pragma once

#include <memory>

#include "analysis/steps/step_inputs.h"
#include "timeline/index/timeline.h"

namespace batchlight::timeline {

struct TimelineOptions {
  StepOptions steps;
  bool derived = true;  // steps, phases, idle gaps, memory: costs more than all the rest
};

std::unique_ptr<Timeline> BuildTimeline(const Store& store, const TimelineOptions& options = {});

// With steps that are known already.
std::unique_ptr<Timeline> BuildTimeline(const StepInputs& inputs, StepSet steps);

}  // namespace batchlight::timeline
