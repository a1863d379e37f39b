// The tables of registry.h about processors: samples, of native code and of Python, switches, and
// what processes and the machine used. Without rows where none were recorded.
#pragma once

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"

namespace batchlight {

ResultTable MakeSamplesTable(const RunOverview& overview);
ResultTable MakeSamplePhasesTable(const RunOverview& overview);
ResultTable MakeSampleIdleTable(const RunOverview& overview);
ResultTable MakePythonPhasesTable(const RunOverview& overview);
ResultTable MakePythonSamplesTable(const RunOverview& overview);
ResultTable MakePythonSampleLinesTable(const RunOverview& overview);
ResultTable MakePythonGilTable(const RunOverview& overview);
ResultTable MakeSampleModulesTable(const RunOverview& overview);
ResultTable MakeCallStacksTable(const RunOverview& overview);
ResultTable MakeThreadsTable(const RunOverview& overview);
ResultTable MakeProcessUsageTable(const RunOverview& overview);
ResultTable MakeMachineUsageTable(const RunOverview& overview);

}  // namespace batchlight
