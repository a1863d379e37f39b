// OS runtime and system calls, libraries, MPI, unified memory and the profiler's own overhead in an
// nsys export.
#include <algorithm>
#include <map>
#include <vector>

#include "export/sqlite/nsys_rows.h"
#include "nsys/cuda_tables.h"
#include "nsys/os_tables.h"
#include "nsys/runtime_tables.h"

namespace batchlight {
namespace {

// Writes, by start, the rows of a table that nsys splits by kind; a kind without rows gets no
// table.
template <typename StoreTable, typename Kind>
std::vector<uint32_t> OfKind(const NsysWriter& writer, const StoreTable& table,
                             const std::vector<Kind>& kinds, Kind kind) {
  return ByStart(table, [&](uint32_t row) {
    return kinds[row] == kind && writer.Selects(table.start_ns[row], table.end_ns[row]);
  });
}

Status WriteCalls(NsysWriter& writer) {
  const OsCallsTable& calls = writer.store.os_calls;
  const auto of_class = [&](EventClass event_class) {
    return OfKind(writer, calls, calls.event_class, event_class);
  };
  // Ends of calls around the next one, by thread; the rows come by start.
  std::map<ThreadId, std::vector<int64_t>> around;
  const auto prepare = [&](const OsCallsRow& call, nsys::CallChain& chain) {
    std::vector<int64_t>& ends = around[call.thread];
    while (!ends.empty() && (ends.back() <= call.start_ns || ends.back() < call.end_ns)) {
      ends.pop_back();
    }
    chain.id = ChainOf(call.native_stack);
    chain.nesting = static_cast<int64_t>(ends.size());
    ends.push_back(call.end_ns);
    return true;
  };
  RETURN_IF_ERROR(WriteRows<nsys::CallChain>(writer, nsys::kOsRuntime, calls,
                                             of_class(EventClass::kOsRuntime), prepare));
  return WriteRows(writer, nsys::kSystemCalls, calls, of_class(EventClass::kSystemCall));
}

Status WriteLibraries(NsysWriter& writer) {
  const RuntimeEventsTable& events = writer.store.runtime_events;
  const auto of_family = [&](RuntimeFamily family) {
    return OfKind(writer, events, events.family, family);
  };
  RETURN_IF_ERROR(WriteRows(writer, nsys::kCudnn, events, of_family(RuntimeFamily::kCudnn)));
  return WriteRows(writer, nsys::kCublas, events, of_family(RuntimeFamily::kCublas));
}

Status WriteMpi(NsysWriter& writer) {
  const MpiEventsTable& events = writer.store.mpi_events;
  std::vector<std::pair<int64_t, int32_t>> ranks;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.rank[row] == kNoMpiValue) continue;
    ranks.emplace_back(writer.GlobalTid(events.thread[row]), events.rank[row]);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::vector<nsys::MpiRank> rows;
  for (const auto& [thread, rank] : ranks) rows.push_back({thread, rank});
  RETURN_IF_ERROR(WritePlainRows(writer, nsys::kMpiRanks, rows));

  const auto of_kind = [&](MpiKind kind) { return OfKind(writer, events, events.kind, kind); };
  RETURN_IF_ERROR(
      WriteRows(writer, nsys::kMpiPointToPoint, events, of_kind(MpiKind::kPointToPoint)));
  RETURN_IF_ERROR(WriteRows(writer, nsys::kMpiCollectives, events, of_kind(MpiKind::kCollective)));
  RETURN_IF_ERROR(WriteRows(writer, nsys::kMpiStartWait, events, of_kind(MpiKind::kStartWait)));
  return WriteRows(writer, nsys::kMpiOther, events, of_kind(MpiKind::kOther));
}

Status WriteUnifiedMemory(NsysWriter& writer) {
  const UmCpuFaultsTable& cpu = writer.store.um_cpu_faults;
  const auto is_whole = [](const UmCpuFaultsRow& fault, NoRow) {
    return !fault.instruction.IsNone() && !fault.module.IsNone();
  };
  RETURN_IF_ERROR(WriteRows(writer, nsys::kCpuPageFault, cpu, InOrder(cpu), is_whole));
  const UmGpuFaultsTable& gpu = writer.store.um_gpu_faults;
  return WriteRows(writer, nsys::kGpuPageFault, gpu, InOrder(gpu));
}

}  // namespace

Status WriteOsTables(NsysWriter& writer) {
  RETURN_IF_ERROR(WriteCalls(writer));
  RETURN_IF_ERROR(WriteLibraries(writer));
  RETURN_IF_ERROR(WriteMpi(writer));
  RETURN_IF_ERROR(WriteUnifiedMemory(writer));
  const ProfilerOverheadsTable& overheads = writer.store.profiler_overheads;
  return WriteRows(writer, nsys::kProfilerOverhead, overheads, InOrder(overheads));
}

}  // namespace batchlight
