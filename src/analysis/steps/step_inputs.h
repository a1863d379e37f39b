// What all ways of finding steps look at, made once per store.
#pragma once

#include <vector>

#include "analysis/phases/phase_marks.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

struct StepInputs {
  explicit StepInputs(const Store& store);

  const Store& store;
  PhaseMarks marks;
  ThreadSpans range_rows;
  ThreadSpans operator_rows;
  ThreadSpans phase_rows;
  IntervalIndex ranges;  // of one thread each: without ranges that end on another thread
  std::vector<std::vector<ThreadId>> threads_of_process;
};

}  // namespace batchlight
