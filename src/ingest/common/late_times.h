// What looks at Python tell of a thread's time when it is over.
#pragma once

#include "store/store.h"

namespace batchlight {

// The kernel adds what a thread ran, and how long it could run and had no processor, when that
// ends: what a look has more of than its time belongs to the looks right before it. And a look that
// finds a thread with the GIL, for which others wait, says nothing of the time before: what it did
// not run then it waited for the GIL if that is how the look before found it that found it off the
// GIL. Samples must be in order.
void MoveLateTimes(Store& store);

}  // namespace batchlight
