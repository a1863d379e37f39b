// The measures of any stretch of time, taken as if it were one step of every training process.
#pragma once

#include <cstdint>

#include "analysis/run/run_measures.h"

namespace batchlight {

// `found`: the steps of the run, for its processes and their threads. An event counts for the
// stretch as it would for a step: a call by its begin or, where time is split, by the time inside;
// GPU work by its launch.
RunMeasures MeasureWindow(const Store& store, const StepSet& found, int64_t from_ns, int64_t to_ns);

}  // namespace batchlight
