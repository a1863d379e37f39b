// What of CUDA only the whole recording can tell: times on the recording's clock, threads of calls,
// names of kernels, and waits that only the calls tell.
#pragma once

#include <span>

#include "ingest/decode/fragment.h"
#include "store/store.h"

namespace batchlight {

// `store` holds the joined tables in the order of the records, and processes, threads and the start
// of the session are known. May add threads (those that were seen only by CUPTI), in their place.
void PlaceCuda(std::span<const Fragment> fragments, Store& store);

// Full and short names of kernels from the mangled ones. Once kernels are in order: names of a
// recording are numbered in the order of their first use.
void NameKernels(Store& store);

}  // namespace batchlight
