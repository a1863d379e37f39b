// The options that tell a command what a step is, the same for every command that shows steps.
#pragma once

#include <string>

#include "analysis/steps/steps.h"
#include "cli/flags/command.h"

namespace batchlight::cli {

// --step-key, --step-range, --first-step and --last-step (and DLProf's --iter-start, --iter-stop),
// --rank. `steps` must outlive the parsing.
void AddStepFlags(const Command& command, StepOptions* steps);

// Error (kUsage) if the first step comes after the last.
Status CheckStepFlags(const StepOptions& steps);

// Whether any of these flags was given.
bool StepsAreChosen(const StepOptions& steps);

// Error (kUsage) if the run lacks the requested key, range or rank: numbers of other steps than
// those requested would be taken for them.
Status CheckStepsAreThere(const std::string& input, const StepSet& steps);

}  // namespace batchlight::cli
