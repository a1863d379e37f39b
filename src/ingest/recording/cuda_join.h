// What of CUDA only the whole recording can tell: times on the recording's clock, threads of calls,
// names of kernels, and which call launched what.
#pragma once

#include <span>

#include "ingest/recording/fragment.h"
#include "ingest/recording/join_fragments.h"
#include "store/store.h"

namespace batchlight {

// The last step of reading: `store` holds the joined tables, and processes, threads and the start
// of the session are known. May add threads (those that were seen only by CUPTI), in their place.
void TieCuda(std::span<const Fragment> fragments, std::span<const FragmentMap> maps, Store& store);

}  // namespace batchlight
