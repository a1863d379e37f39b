// What lines of Python cost beside work: GPUs that had nothing to do because of them, and threads
// that waited for a GPU in them.
#pragma once

#include <cstdint>
#include <map>

#include "analysis/lines/line_key.h"
#include "analysis/steps/step_inputs.h"

namespace batchlight {

class BackwardLinks;

struct LineGap {
  PythonFrameId frame;  // None: no line is known
  // GPUs had no work while the thread that launched the next work was in this line or, where that
  // is not known, until the work that the line launched arrived. Without the time that a GPU
  // needs from one piece of queued work to the next.
  int64_t idle_ns = 0;
  int64_t wait_ns = 0;  // threads waited for the GPU in calls of this line
};

// Empty where no stacks of calls were recorded. Where threads run Python between operators, samples
// say which line.
std::map<LineKey, LineGap> MeasureLineGaps(const StepInputs& inputs, const BackwardLinks& links);

}  // namespace batchlight
