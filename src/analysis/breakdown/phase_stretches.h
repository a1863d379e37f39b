// Cuts a step, on the thread that runs it, into stretches that belong to one phase each by the
// rules of step_breakdown.h. The breakdown sums them up; phase events are found inside them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

struct PhaseStretch {
  uint32_t step;  // row of ProcessSteps::steps
  PhaseKind kind;
  StringId range;  // of kUserRange: the message of the range
  int64_t start_ns;
  int64_t end_ns;  // > start_ns
};
using PhaseStretchVisitor = std::function<void(const PhaseStretch&)>;

// Step by step, in order of time and without gaps: the stretches of a step add up to it.
void VisitPhaseStretches(const StepInputs& inputs, const ProcessSteps& steps,
                         const PhaseStretchVisitor& visit);

// "augment 17" -> "augment #": ranges that differ only by a number are one phase.
std::string NameWithoutNumbers(std::string_view name);

}  // namespace batchlight
