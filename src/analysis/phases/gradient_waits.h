// Where the CPU waits for other ranks. DistributedDataParallel starts to sum up gradients while
// backward computes and, at its end, waits inside of it until the sums have come; who receives
// from a rank (torch.distributed.recv) waits behind the operator that asks for it. Nothing runs on
// the thread meanwhile.
#pragma once

#include <vector>

#include "analysis/phases/phase_marks.h"

namespace batchlight {

// Marks of communication to add. `marks`: ordered, `spans` of them by thread.
std::vector<PhaseMark> FindGradientWaits(const Store& store, const std::vector<PhaseMark>& marks,
                                         const ThreadSpans& spans);

}  // namespace batchlight
