// Keeps python_frames and python_stacks at one row per place: each part of a recording defines its
// own.
#pragma once

#include "store/store.h"

namespace batchlight {

// Merges equal rows of both tables into the first of them.
void MergeEqualStacks(Store& store);

}  // namespace batchlight
