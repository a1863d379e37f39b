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
  std::vector<Step> steps;
  size_t overlapping = 0;  // ranges that begin in a step and end after it: left out
};

using FoundStepsOrNone = std::optional<FoundSteps>;

}  // namespace batchlight
