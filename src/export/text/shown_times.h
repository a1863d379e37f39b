// Stacks of a part of the time: --times, and the flags that choose steps.
#pragma once

#include "analysis/steps/steps.h"
#include "export/exporter.h"

namespace batchlight {

// Leaves out of the store's samples or calls, which `stacks` (IsNamed, not of bytes) are made of,
// what lies outside of the selection's times, and of the steps that count (nullptr: all). A sample
// of Python stands for a stretch of time, of which the part within is kept; a call is kept whole or
// not at all. False: nothing is left.
bool KeepShownTimes(const EventSelection& selection, const StepSet* steps, ExportStacks stacks,
                    Store& store);

}  // namespace batchlight
