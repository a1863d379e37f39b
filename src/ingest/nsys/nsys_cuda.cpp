// The CUDA tables of an nsys export: calls, kernels, copies, waits, graphs, allocations.
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

Status LoadWaits(Load& load) {
  const bool renumber = load.schema_minor > 0 && load.schema_minor < kSyncTypesRenumbered;
  const auto adopt = [&](SynchronizationsRow& row, NoRow) {
    const int type = Number(row.sync_type) + (renumber ? 1 : 0);
    const bool known = type <= Number(SyncType::kContext);
    row.sync_type = known ? static_cast<SyncType>(type) : SyncType::kUnknown;
  };
  return LoadRows(load, load.store->synchronizations, kSynchronization, adopt);
}

}  // namespace

Status LoadApiCalls(Load& load) {
  return LoadRows(load, load.store->api_calls, kRuntime, KeepRow());
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
