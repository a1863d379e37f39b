// Names of the functions in which native frames lie.
#pragma once

#include <span>

#include "ingest/decode/fragment.h"
#include "ingest/recording/join_fragments.h"
#include "store/store.h"

namespace batchlight {

// `store` holds the joined tables. Frames in no function that the recording names stay without.
void NameNativeFrames(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
                      Store& store);

}  // namespace batchlight
