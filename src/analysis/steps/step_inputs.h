// What all ways of finding steps look at, made once per store.
#pragma once

#include <mutex>
#include <optional>
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

  // Made when it is first asked for: steps are found without it.
  const IntervalIndex& operators() const;

 private:
  mutable std::once_flag operators_once_;
  mutable std::optional<IntervalIndex> operators_;
};

}  // namespace batchlight
