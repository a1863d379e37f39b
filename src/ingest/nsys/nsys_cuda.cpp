// The CUDA tables of an nsys export: calls, kernels, copies, waits, graphs, allocations.
#include <array>
#include <functional>
#include <unordered_map>

#include "ingest/nsys/nsys_rows.h"
#include "nsys/cuda_tables.h"

namespace batchlight::nsys {
namespace {

struct LaunchHash {
  size_t operator()(const KernelLaunchesRow& row) const {
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (const uint64_t value :
         {uint64_t{row.grid_x} << 32 | row.grid_y, uint64_t{row.grid_z} << 32 | row.block_x,
          uint64_t{row.block_y} << 32 | row.block_z,
          uint64_t{row.registers_per_thread} << 32 | row.dynamic_shared_bytes,
          uint64_t{row.static_shared_bytes} << 32 | row.shared_executed_bytes,
          row.local_bytes_total}) {
      hash = (hash ^ value) * 0xff51afd7ed558ccdu;
      hash ^= hash >> 33;
    }
    return hash;
  }
};

struct LaunchEqual {
  static auto Fields(const KernelLaunchesRow& r) {
    return std::array<uint64_t, 18>{r.grid_x,
                                    r.grid_y,
                                    r.grid_z,
                                    r.block_x,
                                    r.block_y,
                                    r.block_z,
                                    r.registers_per_thread,
                                    r.static_shared_bytes,
                                    r.dynamic_shared_bytes,
                                    r.shared_executed_bytes,
                                    r.local_bytes_per_thread,
                                    r.local_bytes_total,
                                    r.cluster_x,
                                    r.cluster_y,
                                    r.cluster_z,
                                    Number(r.launch_type),
                                    Number(r.cache_config),
                                    r.green_context};
  }
  bool operator()(const KernelLaunchesRow& a, const KernelLaunchesRow& b) const {
    return Fields(a) == Fields(b);
  }
};

using LaunchRows = std::unordered_map<KernelLaunchesRow, uint32_t, LaunchHash, LaunchEqual>;

Status LoadCopies(Load& load) {
  MemcpysTable& table = load.store->memcpys;
  const auto adopt = [&](MemcpysRow& row, UmTransfersRow& unified) {
    if (row.source_device == kDeviceOfCopy) row.source_device = row.device;
    if (row.destination_device == kDeviceOfCopy) row.destination_device = row.device;
    if (!IsUnified(row.copy_kind)) return;
    unified.memcpy_row = static_cast<uint32_t>(table.size());
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
  KernelLaunchesTable& launches = load.store->kernel_launches;
  LaunchRows launch_rows;
  const auto adopt = [&](KernelsRow& row, const KernelLaunchesRow& launch) {
    const auto [place, added] =
        launch_rows.try_emplace(launch, static_cast<uint32_t>(launches.size()));
    if (added) launches.Append(launch);
    row.launch = place->second;
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
