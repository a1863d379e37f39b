// The updates of the weights that a thread makes: what most loops are counted by.
#pragma once

#include <string>
#include <vector>

#include "analysis/steps/step_inputs.h"
#include "analysis/steps/update_pattern.h"

namespace batchlight {

// Optimizer steps. Those that use the gradients of the same backward are one update, and one that
// no backward came before (a call that only warms up) is none.
std::vector<Update> OptimizerUpdates(const StepInputs& inputs, ThreadId thread);

// Where weights are updated by hand: backward calls; those of one forward are one update.
std::vector<Update> BackwardUpdates(const StepInputs& inputs, ThreadId thread);

// "Optimizer.step#AdamW.step#2" -> "AdamW.step#2"
std::string OptimizerName(std::string_view name);

// The thread of the process with most marks of a kind; None if there are none.
ThreadId BusiestThread(const StepInputs& inputs, ProcessId process, PhaseKind kind);

}  // namespace batchlight
