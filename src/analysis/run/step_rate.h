// How often a step comes. All views that say it ask here.
#pragma once

#include <cstddef>

namespace batchlight {

struct RunMeasures;

// From one step to the next, over the steps that count. The rate is that of the median step, which
// one step of a second among thousands of a millisecond does not change; a run of n steps takes n
// times the mean.
struct StepRate {
  double period_ns = 0;       // median; 0: no steps
  double mean_period_ns = 0;  // for views that say the rate on average too
  bool of_gpu = false;        // the CPU runs ahead, and the GPU's step is the period

  double per_second() const { return period_ns > 0 ? 1e9 / period_ns : 0; }
  double mean_per_second() const { return mean_period_ns > 0 ? 1e9 / mean_period_ns : 0; }
  // Whether the mean says something else: then both are said.
  bool has_two() const { return mean_period_ns > 1.1 * period_ns; }
};

// Of the training process in this row of StepSet::processes. Of several GPUs the slowest counts.
StepRate RateOfSteps(const RunMeasures& run, size_t process);

}  // namespace batchlight
