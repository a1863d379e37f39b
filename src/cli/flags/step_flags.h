// The options that tell a command what a step is, the same for every command that shows steps.
#pragma once

#include <string>

#include "analysis/steps/steps.h"
#include "cli/flags/command.h"

namespace batchlight::cli {

// --step-key, --step-range, --first-step and --last-step (and DLProf's --iter-start, --iter-stop),
// --rank. `steps` must outlive the parsing.
void AddStepFlags(CLI::App* command, StepOptions* steps);

// Error (kUsage) if the first step comes after the last.
Status CheckStepFlags(const StepOptions& steps);

// Prints one line on stderr if the run lacks the requested key or range, for commands whose own
// output does not say so.
void SayStepProblem(const std::string& input, const StepSet& steps);

// Error (kUsage) in that case: a gate must not exit with 0 or 1 for other steps than those
// requested.
Status CheckStepsForGate(const StepSet& steps);

}  // namespace batchlight::cli
