// The options by which every command that shows steps can be told what a step is.
#pragma once

#include "analysis/steps.h"
#include "cli/command.h"

namespace batchlight::cli {

// --step-key, --first-step and --last-step (and DLProf's --iter-start, --iter-stop). `steps` must
// outlive the parsing.
void AddStepFlags(CLI::App* command, StepOptions* steps);

// Error (kUsage) if the first step comes after the last.
Status CheckStepFlags(const StepOptions& steps);

// One line on stderr if the key that was asked for is not in the run: for commands whose own output
// does not say so.
void SayStepProblem(const StepSet& steps);

}  // namespace batchlight::cli
