// What steps consist of, for one choice of steps after another.
#pragma once

#include <vector>

#include "analysis/breakdown/step_breakdown.h"

namespace batchlight {

// The same breakdowns, summed up over the steps that count in `steps`: the same processes and
// steps. As BreakDownSteps finds them, without a look at the events.
std::vector<StepBreakdown> BreakdownsOfSteps(std::vector<StepBreakdown> breakdowns,
                                             const StepSet& steps);

}  // namespace batchlight
