// Steps of a loop that replays its step as one CUDA graph, or as a few: from one replay to the
// next.
#pragma once

#include "analysis/steps/found_steps.h"

namespace batchlight {

FoundStepsOrNone StepsFromReplays(const StepInputs& inputs, ProcessId process);

}  // namespace batchlight
