// Steps of programs that only infer: a request is a step.
#pragma once

#include "analysis/steps/found_steps.h"

namespace batchlight {

// A call of generate() is a request, else a call of the model that no other module makes; of
// several models (a text encoder, many steps of a denoiser, a decoder) the pattern that repeats.
FoundStepsOrNone StepsFromRequests(const StepInputs& inputs, ProcessId process);

}  // namespace batchlight
