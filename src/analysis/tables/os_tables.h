// The tables of registry.h about calls of the C library and of CUDA's libraries: without rows where
// none were recorded.
#pragma once

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"

namespace batchlight {

ResultTable MakeOsCallsTable(const RunOverview& overview);
ResultTable MakeLockWaitsTable(const RunOverview& overview);
ResultTable MakeFilesTable(const RunOverview& overview);
ResultTable MakeLibraryCallsTable(const RunOverview& overview);

}  // namespace batchlight
