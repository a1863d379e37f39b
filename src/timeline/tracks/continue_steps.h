// The steps of a run that goes on and was read in two: all of it a while ago, and what is new by
// itself. Numbers and judgements go on from one to the other.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/steps/steps.h"

namespace batchlight::timeline {

struct ContinuedSteps {
  StepSet all;    // the older's that end by the moment, then the newer's; the older's processes
  StepSet newer;  // what the newer has, with the numbers of `all`
  // Not: a process is new, its steps were found by something else, or they are not surely the next
  // ones (their numbers do not rise by one, or the older has others where both tell).
  bool fits = true;
};

// `same`: the older's process that is one of the newer's, None: there is none.
ContinuedSteps ContinueSteps(const StepSet& older, StepSet newer, int64_t at_ns,
                             const std::function<ProcessId(ProcessId)>& same);

}  // namespace batchlight::timeline
