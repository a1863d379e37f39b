// Whether what is new of a run that goes on may be read by itself: only where it is sure to be told
// as one reading of all would.
#pragma once

#include "analysis/steps/steps.h"
#include "timeline/index/timeline.h"

namespace batchlight::timeline {

// Of a reading of all: one process has steps, all of them count, and their numbers rise by one.
bool CanGoOn(const StepSet& older, const StepOptions& options);

// Numbers from names of ranges ("step 10", "step 20") do not.
bool RiseByOne(const ProcessSteps& process);

// The newer knows all facts of the older, of the same processes: what was told in chunks that were
// not opened it lacks. All its threads and groups of tracks are the older's.
bool AreAlike(const Timeline& older, const Timeline& newer);

}  // namespace batchlight::timeline
