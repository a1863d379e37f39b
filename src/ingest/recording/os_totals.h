// Adds up what the chunks count of calls of the C library.
#pragma once

#include "store/store.h"

namespace batchlight {

// One row of os_call_counts a thread and call. Call it after JoinFragments.
void AddUpOsCalls(Store& store);

}  // namespace batchlight
