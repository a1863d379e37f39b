// Steps from the period of a sequence of names, for loops that say nothing else about themselves.
//
// A name that occurs once a period has occurrences about evenly apart; the best of the rare names
// is the one whose distance P makes the sequence agree best with itself P places later. The loop is
// cut where, by the median over periods, the longest pause lies.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/found_steps.h"

namespace batchlight {

FoundStepsOrNone StepsFromOperatorPeriod(const StepInputs& inputs, ProcessId process);
// `kernels`: rows of the process in order of start.
FoundStepsOrNone StepsFromKernelPeriod(const StepInputs& inputs, ProcessId process,
                                       const std::vector<uint32_t>& kernels);

}  // namespace batchlight
