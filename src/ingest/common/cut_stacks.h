// Samples of Python whose callers were not found.
#pragma once

#include "store/store.h"

namespace batchlight {

// A look that met a generator or a function as it was left found it without its callers. Where the
// looks right before and after it are within one function that lasts as long as its thread (the
// program itself, a thread's start), it was called by what is on the stacks of both. Samples must
// be in order.
void JoinCutStacks(Store& store);

}  // namespace batchlight
