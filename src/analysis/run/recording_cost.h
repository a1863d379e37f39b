// How much longer a step takes because it is recorded. Of the main training process.
//
// Measured: by the steps of the same run that were recorded without detail (--control-steps,
// --overhead), and what phases, ranges and CUPTI cost in these as well, which is estimated.
//
// Estimated, where there are too few of them: a range. Its upper end is the number of records of
// each kind in a step, times the most that one was ever seen to cost. Costs were measured in the
// program itself when it started (properties cost.*), in tight loops, and are multiplied here for
// cold caches. GPU work is the exception: its cost is CUPTI's, and measuring it would need work on
// the program's GPU, so it comes from a table. The lower end is what the tight loops say; nothing
// where there is a GPU, whose work may hide all of it.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/numbers/alternating.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Property of a recording made with --overhead: the share of a step that recording may add.
inline constexpr std::string_view kOverheadBudgetKey = "session.overhead_budget";

// Of one made with --pytorch-depth: how many levels of operators it has.
inline constexpr std::string_view kOperatorLevelsKey = "session.operator_levels";

struct RecordedKind {
  std::string_view what;  // "GPU events"
  double per_step = 0;
  double ns_each = 0;   // the most
  double least_ns = 0;  // in a tight loop
};

struct RecordingCost {
  std::vector<RecordedKind> kinds;  // those that were recorded, by falling share
  double low_ns = 0;                // estimated, of a step with detail
  double high_ns = 0;               // at most half of step_ns
  double uncut_ns = 0;              // the same without that limit
  // Median of the steps with detail; where the CPU runs ahead what the GPU takes (OfGpu).
  double step_ns = 0;

  std::optional<LongerBy> measured;  // a step with detail than one that is not recorded
  double kept_ns = 0;                // of that, estimated: steps without detail have it too
  double plain_step_ns = 0;          // if measured: what is left of a step with detail
  bool without_graphs = false;       // CUPTI stayed on for CUDA graphs: its part is not measured
  size_t detailed_steps = 0;         // of all steps of the process
  size_t plain_steps = 0;
  double budget = 0;  // asked for by --overhead: 0.03; 0 = nothing

  bool known() const { return measured.has_value() || !kinds.empty(); }
  // Of the plain step: 0.03 = 3 % longer.
  double Share(double ns) const { return ns / std::max(1.0, plain_step_ns); }
  // By how much steps are longer in the mean, over those with and without detail.
  double MeanShare() const {
    const double all = double(detailed_steps + plain_steps);
    if (!measured || all <= 0) return 0;
    return (Share(measured->ns) * double(detailed_steps) + Share(kept_ns) * double(plain_steps)) /
           all;
  }
};

// Where the CPU runs ahead of the GPU: a step takes `pace_ns`, and an estimate is a share of that.
void OfGpu(RecordingCost& cost, double pace_ns);

// Not known of recordings by other tools.
RecordingCost FindRecordingCost(const Store& store, const StepSet& steps);

}  // namespace batchlight
