// What the numbers of a row are summed from, by the keys that the rules of its columns name
// (analysis/result/sum_rule.h): one number for each part, such as a bin of steps.
#pragma once

#include <span>
#include <vector>

#include "analysis/gpu/gpu_utilization.h"
#include "analysis/overview/run_overview.h"
#include "analysis/result/sum_rule.h"
#include "analysis/steps/step_bins.h"

namespace batchlight {

// Of the table `ranks`, over the steps of each bin.
PartsByKey PartsOf(const RunOverview& overview, const RankRow& rank,
                   const std::vector<BinSteps>& bins);

// Of the table `collectives`, but for `steps`, which all rows have in common.
PartsByKey PartsOf(const CollectiveRow& row, std::span<const CollectiveTimes> times);

// Of UtilizationMetrics().
PartsByKey PartsOf(const std::vector<GpuUse>& uses);

// Of QueueMetrics(), but for its histogram.
PartsByKey PartsOf(const ProcessSteps& process, const LaunchQueue& queue,
                   const std::vector<BinSteps>& bins);

}  // namespace batchlight
