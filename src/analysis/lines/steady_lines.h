// Time of the lines of Python code in the steady steps alone: what a step costs, as the tables of
// operators and modules have it.
#pragma once

#include "analysis/lines/line_times.h"
#include "analysis/steps/steps.h"

namespace batchlight {

struct SteadyLines {
  LineTimes times;     // sums over the steady steps of all processes
  uint64_t steps = 0;  // how many these are; 0: no steps, `times` are those of the whole run
};

SteadyLines MeasureSteadyLines(const Store& store, const BackwardLinks& links,
                               const Attribution& work, const StepSet& steps);

}  // namespace batchlight
