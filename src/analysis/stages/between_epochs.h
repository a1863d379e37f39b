// Time at the beginning of a few iterations in which nothing of an iteration happens yet: what a
// loop does between its epochs.
#pragma once

#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/steps/steps.h"

namespace batchlight {

struct StepInputs;

// Ordered, not overlapping. Validation and checkpoints in it are not cut out. `waits`: the thread
// waits for the GPU, which is at work on iterations then. `has_epochs`: it is known where they
// begin, and what begins none is a slow iteration.
std::vector<TimeSpan> FindBetweenEpochs(const StepInputs& inputs, const ProcessSteps& steps,
                                        const std::vector<TimeSpan>& waits, bool has_epochs);

}  // namespace batchlight
