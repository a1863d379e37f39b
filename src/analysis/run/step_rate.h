// How often a step comes. All views that say it ask here.
#pragma once

#include <cstddef>

namespace batchlight {

struct RunMeasures;

// From one step to the next, as a mean over the steps that count: a run of n steps takes n periods.
struct StepRate {
  double period_ns = 0;  // 0: no steps
  bool of_gpu = false;   // the CPU runs ahead, and the GPU's mean step is the period

  double per_second() const { return period_ns > 0 ? 1e9 / period_ns : 0; }
};

// Of the training process in this row of StepSet::processes. Of several GPUs the slowest counts.
StepRate RateOfSteps(const RunMeasures& run, size_t process);

}  // namespace batchlight
