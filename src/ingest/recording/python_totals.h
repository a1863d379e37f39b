// Adds up what the chunks say about Python's functions.
#pragma once

#include "store/store.h"

namespace batchlight {

// One row a function and thread, a caller of it, a line of it, and a source. Call it after
// JoinFragments.
void AddUpPython(Store& store);

}  // namespace batchlight
