// Samples, switches and usage, which the tool recorded by numbers of processes and threads, get the
// rows of these.
#pragma once

#include <span>

#include "ingest/decode/fragment.h"
#include "ingest/recording/join_fragments.h"
#include "store/store.h"

namespace batchlight {

// `store` holds the joined tables in the order of the records; its processes, threads and captures
// are known. Adds processes and threads that only the kernel told of, in their places, and drops
// what lies outside of the captures. No fact of `fragments` about processes may be used afterwards.
void PlaceCpu(std::span<const Fragment> fragments, std::span<const FragmentMap> maps, Store& store);

}  // namespace batchlight
