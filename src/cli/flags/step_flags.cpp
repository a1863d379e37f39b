#include "cli/flags/step_flags.h"

#include <string>

namespace batchlight::cli {

void AddStepFlags(const Command& command, StepOptions* steps) {
  command
      .Option("--step-key,--key", &steps->key,
              "Range, operator or call whose end ends a step (default: found by itself)")
      .TypeName("NAME")
      .Group("Steps");
  command
      .Option("--step-range", &steps->range,
              "Range that is a step itself: what lies between two of them belongs to none")
      .TypeName("NAME")
      .Group("Steps")
      .Excludes("--step-key");
  command.Option("--first-step,--iter-start", &steps->first_step, "First step that counts, from 0")
      .NotNegative()
      .TypeName("N")
      .Group("Steps");
  command.Option("--last-step,--iter-stop", &steps->last_step, "Last step that counts")
      .NotNegative()
      .TypeName("N")
      .Group("Steps");
  command.Option("--rank", &steps->rank, "Only the steps of this rank (default: all ranks)")
      .NotNegative()
      .TypeName("N")
      .Group("Steps");
}

Status CheckStepFlags(const StepOptions& steps) {
  if (steps.first_step <= steps.last_step) return {};
  return UsageError("--first-step " + std::to_string(steps.first_step) +
                    " comes after --last-step " + std::to_string(steps.last_step));
}

bool StepsAreChosen(const StepOptions& steps) {
  return !steps.key.empty() || steps.first_step > 0 || steps.last_step != INT64_MAX ||
         steps.rank >= 0;
}

Status CheckStepsAreThere(const std::string& input, const StepSet& steps) {
  return steps.problem.empty() ? Status() : UsageError(input + ": " + steps.problem);
}

}  // namespace batchlight::cli
