// Puts what the records say about processes, threads, losses and the session into the store.
#pragma once

#include <span>

#include "ingest/recording/chunk_plan.h"
#include "ingest/recording/join_fragments.h"

namespace batchlight {

// Call it after JoinFragments.
void ApplyFacts(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
                const ChunkPlan& plan, Store& store);

}  // namespace batchlight
