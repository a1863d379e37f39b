// Steps from the ranges of the user. What lies between two of them belongs to the second.
#pragma once

#include <string>

#include "analysis/steps/found_steps.h"

namespace batchlight {

FoundStepsOrNone StepsFromRanges(const StepInputs& inputs, ProcessId process);
// A step is the range of that name itself: what lies between two belongs to none.
FoundStepsOrNone StepsFromRange(const StepInputs& inputs, ProcessId process,
                                const std::string& name);

}  // namespace batchlight
