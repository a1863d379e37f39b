// The tables of registry.h about processors: samples and switches. Without rows where none were
// recorded.
#pragma once

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"

namespace batchlight {

ResultTable MakeSamplesTable(const RunOverview& overview);
ResultTable MakeSampleModulesTable(const RunOverview& overview);
ResultTable MakeThreadsTable(const RunOverview& overview);

}  // namespace batchlight
