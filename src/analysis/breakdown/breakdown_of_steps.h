// What steps consist of, for one choice of steps, or stretch of time, after another.
#pragma once

#include <vector>

#include "analysis/breakdown/step_breakdown.h"

namespace batchlight {

// The same breakdowns, summed up over the steps that count in `steps`: the same processes and
// steps. As BreakDownSteps finds them, without a look at the events.
std::vector<StepBreakdown> BreakdownsOfSteps(std::vector<StepBreakdown> breakdowns,
                                             const StepSet& steps);

// Of a stretch of time (StepSet::within): what lies in it of the phases of the steps of `loop`, the
// same processes, and of what lies between and beside these. The phases add up to the stretch.
std::vector<StepBreakdown> BreakdownsWithin(const StepInputs& inputs, const StepSet& loop,
                                            const StepSet& within);

}  // namespace batchlight
