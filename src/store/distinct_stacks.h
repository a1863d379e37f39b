// Keeps the tables of frames and stacks, Python's and native ones, at one row per place: each part
// of a recording defines its own.
#pragma once

#include "store/store.h"

namespace batchlight {

// Merges equal rows of each table into the first of them.
void MergeEqualStacks(Store& store);

}  // namespace batchlight
