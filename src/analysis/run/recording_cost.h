// An estimate of how much longer a step takes because it is recorded: the number of records of each
// kind in a step, times the most that one costs. Costs were measured in the program itself when it
// started (properties cost.*), in tight loops, and are multiplied here for cold caches. GPU work is
// the exception: its cost is CUPTI's, and measuring it would need work on the program's GPU, so it
// comes from a table. A step that waits for its GPU shows less of the cost, or nothing.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct RecordedKind {
  std::string_view what;  // "GPU events"
  double per_step = 0;
  double ns_each = 0;
};

struct RecordingCost {
  std::vector<RecordedKind> kinds;  // those that were recorded, by falling share
  double per_step_ns = 0;
  bool known() const { return !kinds.empty(); }
};

// Of the main training process. Not known of recordings by other tools.
RecordingCost EstimateRecordingCost(const Store& store, const StepSet& steps);

}  // namespace batchlight
