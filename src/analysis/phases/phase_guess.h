// Infers phases from operators, for recordings without modules and traced calls (torch.profiler's):
// forward is where operators that autograd follows run outside of any other phase; backward, on the
// thread of the loop, is the time in which the autograd engine's own threads work.
#pragma once

#include <vector>

#include "analysis/phases/phase_marks.h"

namespace batchlight {

// Implied marks to add. `marks`: ordered, `spans` of them by thread.
std::vector<PhaseMark> GuessPhases(const Store& store, const std::vector<PhaseMark>& marks,
                                   const ThreadSpans& spans);

}  // namespace batchlight
