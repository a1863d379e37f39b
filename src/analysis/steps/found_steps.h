// What one way of finding steps found in a process. FindSteps() uses the first that finds any.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

struct FoundSteps {
  StepSource source = StepSource::kNone;
  ThreadId thread;
  std::string marker;
  std::string how;  // the rule, for people: goes on after "80 steps, "
  std::vector<Step> steps;
  uint32_t micro_batches = 1;
};

using FoundStepsOrNone = std::optional<FoundSteps>;

// "name", shortened
std::string QuotedName(std::string_view name);

}  // namespace batchlight
