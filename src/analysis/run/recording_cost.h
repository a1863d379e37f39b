// How much longer a step is for being recorded, by estimate: the records of each kind in a step, by
// what one costs at most. Costs were measured in the program itself when it started (properties
// cost.*), in tight loops, and count several times here;
// that of GPU work is CUPTI's and would need work on the program's GPU to measure, so it comes from
// a table. On a step that waits for its GPU less of it shows, or nothing.
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
