// How fast the ranks of a job would be without each other. That one waits for another says little
// where both launch at the same speed: without the wait its GPU would idle instead.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/breakdown/step_breakdown.h"
#include "analysis/ranks/collectives.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// What a step would be shorter if only `late` were faster, ns, mean of steady steps. Without it a
// step takes as long as on the slowest other rank: on its CPU without what it waits there for its
// GPU (in calls that wait, and in launches into a full queue), or on its GPU without what it waits
// for others, whichever is longer.
struct LostToRank {
  double ns = 0;         // may be less than nothing
  double chance_ns = 0;  // by so much it differs from one run to the next: its standard error
};

// `breakdowns` and `distributed.ranks` have a row for each of steps.processes.
LostToRank MeasureLostTo(size_t late, const Store& store, const StepSet& steps,
                         const std::vector<StepBreakdown>& breakdowns,
                         const Distributed& distributed);

}  // namespace batchlight
