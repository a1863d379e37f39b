// Copies that cannot have ended when CUPTI says.
#pragma once

#include "store/store.h"

namespace batchlight {

// CUPTI 13.0 gives the copy before the first launch of a whole CUDA graph the end of a later copy
// (86 and 105 ms instead of 1 us in two recordings of an H200). A stream does one thing after the
// other, so a copy outside of a graph cannot end behind the begin of its stream's next work: such a
// one gets the median length of the copies like it, at most up to that begin. Looked for only where
// less than 1 GB/s was moved in 0.1 ms or more. Counted as CopyEndsCut in losses. Tables must be by
// start, with their ends on the same clock.
void CutImpossibleCopyEnds(Store& store);

}  // namespace batchlight
