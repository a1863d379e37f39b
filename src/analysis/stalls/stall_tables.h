// Sampled kernels as tables.
#pragma once

#include "analysis/result/result_table.h"
#include "analysis/stalls/stall_profile.h"

namespace batchlight {

// A row for each kernel.
ResultTable StallKernelsTable(const StallProfile& profile);
// A row for each line of source, or instruction of kernels that have none.
ResultTable StallLinesTable(const StallProfile& profile);

}  // namespace batchlight
