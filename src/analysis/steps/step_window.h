// Separates the steady steps from the others (warm-up, compilation, validation, checkpoints, starts
// of an epoch), and finds the outliers among the steady ones.
#pragma once

#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

// Fills kind, outlier, steady, duration, between_ns and outlier_count of `process`.
void FindSteadyWindow(const StepInputs& inputs, const StepPart& part, ProcessSteps& process);

// Fills the others from the kinds.
void CountSteady(ProcessSteps& process);

// Gives the steps of `part` the numbers and kinds of the same steps of `known`, but for those left
// out, and counts anew. Of processes with as many steps in both.
void NameAsKnown(const StepSet& known, StepSet& part);

// All steps, before any is named warm-up, validation or the like. `first_step` and `last_step` of
// the options are not looked at.
StepSet FindLoops(const StepInputs& inputs, const StepOptions& options);

// Names the steps of what FindLoops found, and which of them count.
StepSet ChooseSteps(const StepInputs& inputs, const StepOptions& options, StepSet loops);

// A stretch of time as the one step of each process that has some.
StepSet StepsWithin(const StepSet& steps, const TimeSpan& within);

}  // namespace batchlight
