// The dictionary: every table of nsys's file that batchlight reads or writes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nsys/cuda_tables.h"
#include "nsys/info_tables.h"
#include "nsys/metric_tables.h"
#include "nsys/nvtx_tables.h"
#include "nsys/os_tables.h"
#include "nsys/runtime_tables.h"

namespace batchlight::nsys {

// visit(table) for each table of the schema that we export, in the order of the file.
template <typename Visitor>
void VisitSchema(Visitor&& visit) {
  const auto all = [&](const auto&... tables) { (visit(tables), ...); };
  all(kStringIds, kKernel, kMemcpy, kMemset, kRuntime, kSynchronization, kCudaEvent, kGraphTrace,
      kOverhead, kGraphNode, kCudnn, kCublas, kCudaCallchains, kGpuMemoryUsage, kCpuPageFault,
      kGpuPageFault, kNvtxEvents, kPayloadSchemas, kPayloadEntries, kOsRuntime, kOsCallchains,
      kThreadSamples, kSampleCallchains, kThreadSwitches, kSystemCalls, kMpiRanks, kMpiPointToPoint,
      kMpiCollectives, kMpiStartWait, kMpiOther, kProfilerOverhead, kDiagnostics, kProcesses,
      kThreadNames, kProcessStreams, kAnalysisDetails, kAnalysisFile, kCaptureFacts, kExportFacts,
      kSessionStart, kSystemEnvironment, kGpu, kCudaDevice, kCudaContext, kCudaStream, kGpuMetrics,
      kGpuMetricNames);
}

// What the dictionary says about a table.
struct TableEntry {
  std::string_view name;
  Holds holds;
  std::string columns;  // as Spelling has them; empty: not in what we export
};

// All tables; those that are only read come last.
std::span<const TableEntry> Entries();

// The tables of the store that `holds` names.
std::vector<std::string_view> NamesOf(const Holds& holds);

}  // namespace batchlight::nsys
