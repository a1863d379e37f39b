// What recording costs, in words, the same in summary and page.
#pragma once

#include <string>

#include "analysis/overview/run_overview.h"

namespace batchlight {

// "recording adds 2.40 ms to a step (6.8 % ± 1.1, measured on 14 control steps)"; where it could
// not be measured "recording adds at most 1.12 ms to a step (3.1 %, estimated): 3,003 operators";
// "" if nothing is known.
std::string RecordingCostText(const RunOverview& overview);

// "operators, modules and kernels: from 41 of 600 steps; those without detail take 395 µs
// (median)"; "" if all steps have detail.
std::string DetailedStepsText(const RunOverview& overview);

// "operators: the outermost 2 levels (--pytorch-depth)"; "" if all are recorded.
std::string OperatorLevelsText(const RunOverview& overview);

}  // namespace batchlight
