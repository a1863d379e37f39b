// Calls of CUDA's libraries come as NVTX ranges in domains of their own, and are no ranges of the
// program's.
#pragma once

#include "store/store.h"

namespace batchlight {

// Moves them from nvtx_ranges to runtime_events. Call it after JoinFragments.
void MoveLibraryCalls(Store& store);

}  // namespace batchlight
