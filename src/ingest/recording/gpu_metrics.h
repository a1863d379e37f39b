#pragma once

#include "store/store.h"

namespace batchlight {

// Leaves one row of each metric of a GPU: the tool defines them again in every chunk.
void UniteGpuMetrics(Store& store);

}  // namespace batchlight
