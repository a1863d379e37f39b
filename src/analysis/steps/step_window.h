// Separates the steady steps from the others (warm-up, compilation, validation, checkpoints, starts
// of an epoch), and finds the outliers among the steady ones.
#pragma once

#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

// Fills kind, outlier, steady, duration, between_ns and outlier_count of `process`.
void FindSteadyWindow(const StepInputs& inputs, const StepOptions& options, ProcessSteps& process);

}  // namespace batchlight
