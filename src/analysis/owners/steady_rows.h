// The rows of a table that begin in steady steps, found by binary search: a look at a few steps of
// a long run does not walk the run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/steps/steps.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

// Neighbouring rows [begin, end) of one thread.
struct SteadyRows {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t thread_end = 0;    // behind the thread's last row
  bool begun_before = false;  // one row, which is open when a stretch of time begins
};

// Of a table in (thread, start) order, in that order. Steady steps that follow each other without a
// gap are one stretch. With `end_ns` also the rows that were open when a stretch of time
// (StepSet::within) began.
std::vector<SteadyRows> FindSteadyRows(const Store& store, const StepSet& steps,
                                       const ThreadSpans& threads,
                                       std::span<const int64_t> start_ns,
                                       std::span<const int64_t> end_ns = {});

}  // namespace batchlight
