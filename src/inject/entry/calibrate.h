// What recording costs, measured in the program itself in some 20 us, so that reports can say what
// share of a step is ours. CUDA calls: cupti/cost.h; modules and operators: python/batchlight.
#pragma once

namespace batchlight::inject {

// Times a range's push and pop as the program's own are recorded, once a process, while it
// collects. Only the result gets into the recording. Not from within a Guard.
void CalibrateOnce();

}  // namespace batchlight::inject
