// A job of two ranks with NCCL's ranges, their payloads and its kernels.
#pragma once

#include "store/store.h"

namespace batchlight::testing {

// In each step an all-reduce of 1 MB, for which rank 0 waits 300 us.
Store MakeTwoRanks(int steps);

}  // namespace batchlight::testing
