// Who really released a mutex that was handed over while a thread waited for it.
#pragma once

#include "store/store.h"

namespace batchlight {

// A wait for a mutex is recorded with who held it as it began. Where other threads that waited for
// the same one got it meanwhile, the last of them had it before the wait ended.
void FollowLockHandovers(Store& store);

}  // namespace batchlight
