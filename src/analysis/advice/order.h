// In which order findings are told.
#pragma once

#include <vector>

#include "analysis/advice/finding.h"

namespace batchlight::advice {

// By rank, which this fills in from the shares, then by what they save of the run; what every eager
// program is told, by what it saves at least.
void PutInOrder(std::vector<Finding>* findings);

}  // namespace batchlight::advice
