// The tables of registry.h about hardware counters and sampled metrics: without rows where none
// were read.
#pragma once

#include "analysis/counters/kernel_figures.h"
#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"

namespace batchlight {

ResultTable MakeStepCountersTable(const RunOverview& overview);
// Without rows where operations were not counted (--step-counters=roofline).
ResultTable MakeStepRooflineTable(const RunOverview& overview);
ResultTable MakeGpuMetricsTable(const RunOverview& overview);
// By phase, cause of idle gaps, and kernel.
ResultTable MakeGpuMetricPartsTable(const RunOverview& overview);
ResultTable MakeKernelLimitsTable(const RunOverview& overview);
ResultTable MakeKernelMemoryTable(const RunOverview& overview);
ResultTable MakeKernelOccupancyTable(const RunOverview& overview);
ResultTable MakeKernelSchedulerTable(const RunOverview& overview);
ResultTable MakeKernelRooflineTable(const RunOverview& overview);
ResultTable MakeKernelCountersTable(const RunOverview& overview);

// The same of some kernels, or of single launches.
ResultTable KernelLimitsTable(const Store& store, const KernelReport& report);
ResultTable KernelMemoryTable(const Store& store, const KernelReport& report);
ResultTable KernelOccupancyTable(const Store& store, const KernelReport& report);
ResultTable KernelSchedulerTable(const Store& store, const KernelReport& report);
// Without rows where operations were not counted (--set roofline).
ResultTable KernelRooflineTable(const Store& store, const KernelReport& report);
ResultTable KernelCountersTable(const Store& store, const KernelReport& report);

}  // namespace batchlight
