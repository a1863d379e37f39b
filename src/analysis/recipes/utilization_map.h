// How much of the time kernels and communication took, and both at once, in stretches of time.
#pragma once

#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/result/result_table.h"
#include "analysis/stats/stats_report.h"

namespace batchlight::recipes {

// Kernels, and what counts as communication beside them: disjoint, in order.
struct Activity {
  std::vector<TimeSpan> kernels;
  std::vector<TimeSpan> communication;
};
using FindActivity = Activity (*)(const stats::Query& query);

Activity MpiSpans(const stats::Query& query);   // kernels; calls of MPI
Activity NcclSpans(const stats::Query& query);  // kernels without NCCL's; NCCL's

// A row for each of `bins` stretches from the first activity to the last.
ResultTable UtilizationMap(const Activity& activity, size_t bins);

}  // namespace batchlight::recipes
