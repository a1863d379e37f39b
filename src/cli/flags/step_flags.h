// The options by which every command that shows steps can be told what a step is.
#pragma once

#include <string>

#include "analysis/steps/steps.h"
#include "cli/flags/command.h"

namespace batchlight::cli {

// --step-key, --first-step and --last-step (and DLProf's --iter-start, --iter-stop), --rank.
// `steps` must outlive the parsing.
void AddStepFlags(CLI::App* command, StepOptions* steps);

// Error (kUsage) if the first step comes after the last.
Status CheckStepFlags(const StepOptions& steps);

// One line on stderr if the run lacks the key or range that was asked for: for commands whose own
// output does not say so.
void SayStepProblem(const std::string& input, const StepSet& steps);

// Error (kUsage) then: no exit code of 0 or 1 for other steps than those.
Status CheckStepsForGate(const StepSet& steps);

}  // namespace batchlight::cli
