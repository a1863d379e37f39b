// The column of time on threads that the step does not wait for, of every table by name.
#pragma once

#include "analysis/result/result_column.h"

namespace batchlight {

inline ResultColumn BesideColumn() {
  return TimeColumn(
      "beside_per_step", "Other Threads per Step",
      "Self on threads that the step does not wait for (a DataLoader's, NCCL's), part of no share");
}

}  // namespace batchlight
