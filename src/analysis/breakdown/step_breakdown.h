// What a step is made of, on the thread that runs it. Every nanosecond of a step belongs to exactly
// one phase, so that the phases of a step add up to its length.
//
// A moment belongs to the innermost thing around it that says what it is: a user's range with a
// well-known name (forward, backward, batch_to_device, ...) or a traced call of the training loop
// (backward, optimizer step, DataLoader next). Failing both, it is `forward` inside a module's
// forward, else the outermost user range inside the step, under its own name, else a wait for the
// GPU or a copy to it if a CUDA call is doing that, else `other`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/numbers/statistics.h"
#include "analysis/phases/phase_kind.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct StepInputs;

struct PhaseShare {
  PhaseKind kind = PhaseKind::kOther;
  std::string name;                  // "data loading"; of kUserRange the range's own
  std::vector<int64_t> per_step_ns;  // of every step of the process, in order
  Sample steady;                     // over steady steps
  double share = 0;                  // of the time of steady steps, 0 to 1
};

struct StepBreakdown {
  ProcessId process;
  std::vector<PhaseShare> phases;  // in the order of PhaseKind; only those that occur
  int64_t steady_total_ns = 0;     // time of steady steps = sum over phases
};

// How much longer a phase was in one step than in the median step.
struct StepExcess {
  uint32_t phase = 0;  // row of StepBreakdown::phases
  int64_t excess_ns = 0;
};
// The phases that took longer, by falling excess, down to a tenth of the largest.
std::vector<StepExcess> ExplainStep(const StepBreakdown& breakdown, size_t step);
// The same of any excesses.
std::vector<StepExcess> LargestExcesses(std::vector<StepExcess> all);

// One per process of `steps`, in that order.
std::vector<StepBreakdown> BreakDownSteps(const StepInputs& inputs, const StepSet& steps);

}  // namespace batchlight
