// How long a checkpoint really takes: a traced torch.save, and what the loop does to the file
// around it. A program opens a file, which may replace a large one, saves, flushes, syncs, renames;
// all but the save is silence on its thread.
#pragma once

#include <vector>

#include "analysis/phases/phase_marks.h"

namespace batchlight {

// Stretches each outermost save over the silence around it, as far as that can be of the file: at
// most a few times the save itself, and behind it without what the loop does silently after every
// update too. `marks`: those of traced calls, ordered by (thread, start) before, not after.
void StretchSaves(const Store& store, std::vector<PhaseMark>& marks);

}  // namespace batchlight
