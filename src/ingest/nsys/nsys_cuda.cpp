// The CUDA tables of an nsys export: calls, kernels, copies, waits, graphs, allocations.
#include <set>
#include <utility>

#include "ingest/nsys/nsys_rows.h"
#include "nsys/cuda_tables.h"
#include "store/distinct_launches.h"

namespace batchlight::nsys {
namespace {

Status LoadCopies(Load& load) {
  MemcpysTable& table = load.store->memcpys;
  const auto adopt = [&](MemcpysRow& row, UmTransfersRow& unified) {
    if (row.source_device == kDeviceOfCopy) row.source_device = row.device;
    if (row.destination_device == kDeviceOfCopy) row.destination_device = row.device;
    if (!IsUnified(row.copy_kind)) return;
    unified.memcpy_row = MemcpyId::At(table.size());
    load.store->um_transfers.Append(unified);
  };
  return LoadRows<UmTransfersRow>(load, table, kMemcpy, adopt);
}

SyncType OldSyncType(const SynchronizationsRow& row) {
  constexpr int kStreamOrEvent = 2;
  constexpr int kContext = 3;
  if (Number(row.sync_type) == kStreamOrEvent) {
    return row.event == UINT32_MAX ? SyncType::kStream : SyncType::kStreamWaitsEvent;
  }
  return Number(row.sync_type) == kContext ? SyncType::kContext : row.sync_type;
}

Status LoadWaits(Load& load) {
  const bool old = load.schema_minor > 0 && load.schema_minor < kSyncTypesRenumbered;
  const auto adopt = [&](SynchronizationsRow& row, NoRow) {
    if (old) row.sync_type = OldSyncType(row);
    if (row.sync_type > SyncType::kContext) row.sync_type = SyncType::kUnknown;
  };
  return LoadRows(load, load.store->synchronizations, kSynchronization, adopt);
}

// The process of a thread that this job has numbered, and the correlation id of a call of it.
using CallKey = std::pair<int64_t, uint32_t>;

// With CUDA backtraces nsys holds calls twice, under one correlation id: as CUPTI saw them, and
// with a stack as its own hook did (event class 67, a name without version). The first is what
// every other export has, and is kept.
void DropDoubledCalls(const Load& load, ApiCallsTable& calls) {
  const auto key_of = [&](size_t row) {
    return CallKey(load.threads.all()[calls.thread[row].row()] & kProcessMask,
                   calls.correlation[row]);
  };
  const auto is_backtrace = [&](size_t row) {
    return calls.event_class[row] == EventClass::kCudaBacktrace;
  };
  std::set<CallKey> doubled;  // of backtraces that CUPTI saw as well
  for (size_t row = 0; row < calls.size(); ++row) {
    if (is_backtrace(row) && !calls.thread[row].IsNone()) doubled.insert(key_of(row));
  }
  if (doubled.empty()) return;
  std::set<CallKey> seen;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (is_backtrace(row) || calls.thread[row].IsNone()) continue;
    if (const CallKey key = key_of(row); doubled.contains(key)) seen.insert(key);
  }
  ApiCallsTable kept;
  for (size_t row = 0; row < calls.size(); ++row) {
    const bool drop =
        is_backtrace(row) && !calls.thread[row].IsNone() && seen.contains(key_of(row));
    if (!drop) kept.Append(calls.Row(row));
  }
  calls = std::move(kept);
}

}  // namespace

Status LoadApiCalls(Load& load) {
  ApiCallsTable& calls = load.store->api_calls;
  RETURN_IF_ERROR(LoadRows(load, calls, kRuntime, KeepRow()));
  if (!load.doubled_calls) DropDoubledCalls(load, calls);
  return Status();
}

Status LoadKernels(Load& load) {
  DistinctLaunches launches(load.store->kernel_launches);
  const auto adopt = [&](KernelsRow& row, const KernelLaunchesRow& launch) {
    row.launch = launches.RowOf(launch);
  };
  return LoadRows<KernelLaunchesRow>(load, load.store->kernels, kKernel, adopt);
}

Status LoadMemoryOperations(Load& load) {
  RETURN_IF_ERROR(LoadCopies(load));
  return LoadRows(load, load.store->memsets, kMemset, KeepRow());
}

Status LoadGpuEvents(Load& load) {
  Store& store = *load.store;
  RETURN_IF_ERROR(LoadWaits(load));
  RETURN_IF_ERROR(LoadRows(load, store.cuda_events, kCudaEvent, KeepRow()));
  RETURN_IF_ERROR(LoadRows(load, store.graph_launches, kGraphTrace, KeepRow()));
  RETURN_IF_ERROR(LoadRows(load, store.graph_nodes, kGraphNode, KeepRow()));
  RETURN_IF_ERROR(LoadRows(load, store.gpu_memory_events, kGpuMemoryUsage, KeepRow()));
  return LoadRows(load, store.gpu_overheads, kOverhead, KeepRow());
}

Status LoadUnifiedMemory(Load& load) {
  RETURN_IF_ERROR(LoadRows(load, load.store->um_cpu_faults, kCpuPageFault, KeepRow()));
  return LoadRows(load, load.store->um_gpu_faults, kGpuPageFault, KeepRow());
}

}  // namespace batchlight::nsys
