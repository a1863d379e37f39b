// Steps from the period of a sequence of names, for loops that show nothing else to go by.
//
// A name that occurs once a period occurs at about even distances. Of the rare names, the best one
// is that whose distance P makes the sequence agree best with itself P places later. The loop is
// cut at the longest pause, by its median over the periods.
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
