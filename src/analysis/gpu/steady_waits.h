#pragma once

#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Where the thread of the steps waits for work of the GPU, in steps that count; by start, without
// overlap.
std::vector<TimeSpan> WaitsInSteadySteps(const Store& store, const ProcessSteps& steps);

}  // namespace batchlight
