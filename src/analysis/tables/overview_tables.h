// The tables of registry.h, made from a RunOverview.
#pragma once

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"

namespace batchlight {

ResultTable MakeAdviceTable(const RunOverview& overview);
ResultTable MakeStagesTable(const RunOverview& overview);
ResultTable MakeStartUpTable(const RunOverview& overview);
ResultTable MakeImportsTable(const RunOverview& overview);
ResultTable MakeFiguresTable(const RunOverview& overview);
ResultTable MakeStepsTable(const RunOverview& overview);
ResultTable MakePhasesTable(const RunOverview& overview);
ResultTable MakePhaseEventsTable(const RunOverview& overview);
ResultTable MakeModulesTable(const RunOverview& overview);
ResultTable MakeAttributionTable(const RunOverview& overview);
ResultTable MakeLinesTable(const RunOverview& overview);
ResultTable MakeOperatorsTable(const RunOverview& overview);
ResultTable MakeOperatorShapesTable(const RunOverview& overview);
// Without rows where no functions or lines were counted.
ResultTable MakePythonFunctionsTable(const RunOverview& overview);
// Without rows where memory was not recorded.
ResultTable MakeMemoryLinesTable(const RunOverview& overview);
ResultTable MakePythonLinesTable(const RunOverview& overview);
ResultTable MakeNvtxTable(const RunOverview& overview);
ResultTable MakeNvtxMarksTable(const RunOverview& overview);
ResultTable MakeKeyAveragesTable(const RunOverview& overview);
ResultTable MakeKeyAveragesByShapeTable(const RunOverview& overview);
ResultTable MakeRooflineTable(const RunOverview& overview);
// Without rows where no allocations were recorded.
ResultTable MakeMemoryTimelineTable(const RunOverview& overview);
// Without rows where no GPU worked.
ResultTable MakeGpuPartsTable(const RunOverview& overview);
ResultTable MakeGpuStepsTable(const RunOverview& overview);
ResultTable MakeKernelsTable(const RunOverview& overview);
ResultTable MakeCopiesTable(const RunOverview& overview);
ResultTable MakeWaitsTable(const RunOverview& overview);
ResultTable MakeLaunchQueueTable(const RunOverview& overview);
// Without rows where fewer than two processes train.
ResultTable MakeRanksTable(const RunOverview& overview);
ResultTable MakeCollectivesTable(const RunOverview& overview);  // without rows without NCCL
// The same of the steps that count, or of a stretch of time, in place of the whole run.
ResultTable MakeCollectivesOfStepsTable(const RunOverview& overview);
ResultTable MakeProcessesTable(const RunOverview& overview);
ResultTable MakeLossesTable(const RunOverview& overview);

}  // namespace batchlight
