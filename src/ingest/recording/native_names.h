// Names of the functions in which native frames lie, and frames of those that were inlined there.
#pragma once

#include <span>

#include "ingest/decode/fragment.h"
#include "ingest/recording/join_fragments.h"
#include "store/store.h"

namespace batchlight {

// `store` holds the joined tables. Frames in no function that the recording names stay without.
// Inside of each frame come those of the functions that it says were inlined there, in all stacks.
void NameNativeFrames(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
                      Store& store);

}  // namespace batchlight
