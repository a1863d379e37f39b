// A row without an end lasts to the end of the recording. Where one wrong time makes that too long
// to be true, sums over such rows would not fit into 64 bits.
#pragma once

#include "store/store.h"

namespace batchlight {

// Lets such rows end where they start, and says so in `reasons`. After store.duration_ns is set.
void CloseEndlessRows(Store& store);

}  // namespace batchlight
