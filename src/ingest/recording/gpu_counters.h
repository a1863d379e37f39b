#pragma once

#include "store/store.h"

namespace batchlight {

// Leaves one row of each metric of a GPU: the tool defines them again in every chunk.
void UniteGpuMetrics(Store& store);

// CUPTI tells no end of a launch that it ran again for each pass: its counters tell how long it
// took. Of ranges that are placed.
void TimeReplayedKernels(Store& store);

}  // namespace batchlight
