// The loop: the stretch of a process's life in which it iterates, in ns of the recording's clock.
// All that speaks of it means one of these two.
#pragma once

#include <cstddef>
#include <span>

#include "analysis/numbers/time_span.h"
#include "analysis/steps/steps.h"

namespace batchlight {

struct LoopSpan {
  // From the start of the first step to the end of the last, with all that lies between: warm-up,
  // compilations, validations, rollouts, checkpoints, the work between epochs. What follows the
  // last step is no part of it, though it may be a round's end: the last validation or checkpoint.
  TimeSpan whole;
  // What a longer run has more of: the whole from the first step that neither warms up, nor
  // captures a graph, nor compiles as the first of all. Empty: there is none.
  TimeSpan settled;
  size_t settled_steps = 0;  // steps in it, of any kind

  double whole_ns() const { return double(whole.end_ns - whole.start_ns); }
  double settled_ns() const { return double(settled.end_ns - settled.start_ns); }
};

// Of the ordered steps of a process; all zero without steps.
LoopSpan SpanOfLoop(std::span<const Step> steps);

}  // namespace batchlight
