// The tables of registry.h about hardware counters and sampled metrics: without rows where none
// were read.
#pragma once

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"

namespace batchlight {

ResultTable MakeStepCountersTable(const RunOverview& overview);
ResultTable MakeGpuMetricsTable(const RunOverview& overview);

}  // namespace batchlight
