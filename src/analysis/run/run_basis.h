// What is known of a run before anything of it is measured: who has looked at it once gives this to
// those that measure (StepMeasurer), which else find it themselves.
#pragma once

#include <memory>

#include "analysis/gpu/gpu_activity.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

struct RunBasis {
  std::shared_ptr<const StepInputs> inputs;
  std::shared_ptr<const StepSet> loops;     // FindLoops() of these; none: not known
  std::shared_ptr<const GpuActivity> gpus;  // by these inputs; none: not known
};

}  // namespace batchlight
