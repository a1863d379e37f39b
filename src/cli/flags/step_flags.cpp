#include "cli/flags/step_flags.h"

#include <string>

#include "cli/flags/parse_error.h"

namespace batchlight::cli {

void AddStepFlags(CLI::App* command, StepOptions* steps) {
  command
      ->add_option("--step-key,--key", steps->key,
                   "Range, operator or call whose end ends a step (default: found by itself)")
      ->type_name("NAME");
  command
      ->add_option("--step-range", steps->range,
                   "Range that is a step itself: what lies between two of them belongs to none")
      ->type_name("NAME")
      ->excludes("--step-key");
  command
      ->add_option("--first-step,--iter-start", steps->first_step, "First step that counts, from 0")
      ->check(NotNegative())
      ->type_name("A");
  command->add_option("--last-step,--iter-stop", steps->last_step, "Last step that counts")
      ->check(NotNegative())
      ->type_name("B");
  command->add_option("--rank", steps->rank, "Only the steps of this rank (default: all ranks)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
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
