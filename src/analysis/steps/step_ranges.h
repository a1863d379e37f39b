// Steps from the ranges of the user.
#pragma once

#include "analysis/steps/found_steps.h"

namespace batchlight {

FoundStepsOrNone StepsFromRanges(const StepInputs& inputs, ProcessId process);

}  // namespace batchlight
