// Functions of the user's own code that take the time of a phase by Python or by many small
// operators, as samples tell: a metric in a hook of the optimizer, a mask made by loops within
// forward, a backward written in Python.
#pragma once

#include "analysis/lines/code_samples.h"
#include "analysis/phases/phase_kind.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

// An operator of PyTorch's own that takes longer is work, not the price of calling. Where a GPU
// works, none counts: what launches cost has rules of its own.
inline constexpr int64_t kLongOperatorNs = 100'000;

struct HotFunction {
  PhaseKind phase = PhaseKind::kOther;
  SampledFunction function;
  double per_step_ns = 0;  // in Python and in short operators, mean of the steady steps
  double gpu_waits = 0;    // share of the time that its thread waits for the GPU; not in backward
};

// The one of forward, loss, backward and optimizer that takes the longest; per_step_ns 0: none.
// Left out: methods named forward, which are the model, and functions that run the loop, as they
// are on the stack of several phases.
HotFunction FindHotFunction(const StepInputs& inputs, const ProcessSteps& steps,
                            const CodeSamples& samples);

}  // namespace batchlight
