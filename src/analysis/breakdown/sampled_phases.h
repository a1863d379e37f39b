// Where in Python the thread that runs the steps was in each phase of them, by samples from
// outside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/lines/look_times.h"
#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_kind.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

// An innermost function, in the steady steps of all processes.
struct SampledInPhase {
  PhaseKind phase = PhaseKind::kOther;
  std::string range;  // of kUserRange: its name without numbers
  StringId file;
  StringId function;
  uint32_t first_line = 0;
  // Looks whose moment lies in the phase: each stands for the time until the next, in which a short
  // phase can begin and end.
  uint64_t looks = 0;
  uint64_t phase_looks = 0;  // of all functions
  LookTimes times;           // that its looks stand for
  int64_t phase_ns = 0;      // of the phase, in all these steps
  TimeSpan longest{};        // in it, of looks one after the other
};

// Phases by their time, longest first, and in each functions by looks.
std::vector<SampledInPhase> SumSamplesByPhase(const StepInputs& inputs, const StepSet& steps);

}  // namespace batchlight
