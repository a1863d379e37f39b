// Copies that cannot have ended when CUPTI says.
#pragma once

#include "store/store.h"

namespace batchlight {

// CUPTI 13.0 gives the copy before the first launch of a whole CUDA graph the end of a later copy
// (86 and 105 ms instead of 1 us in two recordings of an H200). A stream does one thing after the
// other, so a copy outside of a graph cannot end after its stream's next work begins. A copy that
// does is given the median length of similar copies, but not beyond that begin. Only copies of 0.1
// ms or more that moved less than 1 GB/s are checked. Counted as CopyEndsCut in losses. Tables must
// be ordered by start, with their ends on the same clock.
void CutImpossibleCopyEnds(Store& store);

}  // namespace batchlight
