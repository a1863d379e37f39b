// From how many steps the numbers of a run are, where some were recorded without detail
// (--control-steps, --overhead). Of the main training process; all ranks leave out the same steps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/steps/steps.h"

namespace batchlight {

struct DetailedSteps {
  size_t of_run = 0;     // those that were asked for
  size_t recorded = 0;   // of these, with detail: counts and totals are of them
  size_t counted = 0;    // of these, steady: means of a step are of them
  int64_t plain_ns = 0;  // what the others take, median

  bool all() const { return recorded == of_run; }
};

DetailedSteps FindDetailedSteps(const StepSet& steps);

}  // namespace batchlight
