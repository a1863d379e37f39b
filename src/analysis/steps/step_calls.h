// Steps from traced calls: updates of the weights, the DataLoader's next, or a key of the user.
#pragma once

#include <string>

#include "analysis/steps/found_steps.h"

namespace batchlight {

FoundStepsOrNone StepsFromOptimizer(const StepInputs& inputs, ProcessId process);
// Of loops that update their weights by hand.
FoundStepsOrNone StepsFromBackward(const StepInputs& inputs, ProcessId process);
FoundStepsOrNone StepsFromDataLoader(const StepInputs& inputs, ProcessId process);
// Steps that reach from one end of `key` (a range, operator, phase or module) to the next.
FoundStepsOrNone StepsFromKey(const StepInputs& inputs, ProcessId process, const std::string& key);

}  // namespace batchlight
