// The CUDA tables of an nsys export: calls, kernels, copies, waits, graphs, allocations.
#include <array>
#include <functional>
#include <unordered_map>

#include "ingest/nsys/nsys_rows.h"

namespace batchlight::nsys {
namespace {

constexpr int64_t kRedirectedSyncTypes = 25;  // from schema 3.25 on numbered as CUPTI does

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
  constexpr uint32_t kDeviceOfCopy = UINT32_MAX - 1;
  const auto adopt = [&](MemcpysRow& row, UmTransfersRow& unified) {
    if (row.source_device == kDeviceOfCopy) row.source_device = row.device;
    if (row.destination_device == kDeviceOfCopy) row.destination_device = row.device;
    if (!IsUnified(row.copy_kind)) return;
    unified.memcpy_row = static_cast<uint32_t>(table.size());
    load.store->um_transfers.Append(unified);
  };
  return LoadRows<UmTransfersRow>(
      load, table, "CUPTI_ACTIVITY_KIND_MEMCPY", kStartEnd, adopt,
      Field<&MemcpysRow::process>{"globalPid"}, Field<&MemcpysRow::correlation>{"correlationId"},
      Field<&MemcpysRow::device>{"deviceId"}, Field<&MemcpysRow::context>{"contextId"},
      Field<&MemcpysRow::stream>{"streamId"}, Field<&MemcpysRow::bytes>{"bytes"},
      Field<&MemcpysRow::copy_kind>{"copyKind"},
      Field<&MemcpysRow::source_kind>{"srcKind", Number(MemoryKind::kUnknown)},
      Field<&MemcpysRow::destination_kind>{"dstKind", Number(MemoryKind::kUnknown)},
      Field<&MemcpysRow::source_device>{"srcDeviceId", kDeviceOfCopy},
      Field<&MemcpysRow::destination_device>{"dstDeviceId", kDeviceOfCopy},
      Field<&MemcpysRow::graph_node>{"graphNodeId"},
      Field<&MemcpysRow::green_context>{"greenContextId"},
      Field<&UmTransfersRow::virtual_address>{"virtualAddress"},
      Field<&UmTransfersRow::migration_cause>{"migrationCause"});
}

Status LoadSets(Load& load) {
  return LoadRows(load, load.store->memsets, "CUPTI_ACTIVITY_KIND_MEMSET", kStartEnd, KeepRow(),
                  Field<&MemsetsRow::process>{"globalPid"},
                  Field<&MemsetsRow::correlation>{"correlationId"},
                  Field<&MemsetsRow::device>{"deviceId"}, Field<&MemsetsRow::context>{"contextId"},
                  Field<&MemsetsRow::stream>{"streamId"}, Field<&MemsetsRow::value>{"value"},
                  Field<&MemsetsRow::bytes>{"bytes"},
                  Field<&MemsetsRow::memory_kind>{"memKind", Number(MemoryKind::kUnknown)},
                  Field<&MemsetsRow::graph_node>{"graphNodeId"},
                  Field<&MemsetsRow::green_context>{"greenContextId"});
}

Status LoadWaits(Load& load) {
  // Until 3.25 a stream synchronization was stored as 2, an event synchronization as 0.
  const bool renumber = load.schema_minor > 0 && load.schema_minor < kRedirectedSyncTypes;
  const auto adopt = [&](SynchronizationsRow& row, NoRow) {
    const int type = Number(row.sync_type) + (renumber ? 1 : 0);
    const bool known = type <= Number(SyncType::kContext);
    row.sync_type = known ? static_cast<SyncType>(type) : SyncType::kUnknown;
  };
  return LoadRows(load, load.store->synchronizations, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                  kStartEnd, adopt, Field<&SynchronizationsRow::process>{"globalPid"},
                  Field<&SynchronizationsRow::correlation>{"correlationId"},
                  Field<&SynchronizationsRow::context>{"contextId"},
                  Field<&SynchronizationsRow::stream>{"streamId", UINT32_MAX},
                  Field<&SynchronizationsRow::sync_type>{"syncType"},
                  Field<&SynchronizationsRow::event>{"eventId", UINT32_MAX});
}

Status LoadRecordedEvents(Load& load) {
  return LoadRows(load, load.store->cuda_events, "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                  When{.start = "timestamp?", .end = "", .may_lack_start = true}, KeepRow(),
                  Field<&CudaEventsRow::process>{"globalPid"},
                  Field<&CudaEventsRow::correlation>{"correlationId"},
                  Field<&CudaEventsRow::context>{"contextId"},
                  Field<&CudaEventsRow::stream>{"streamId"},
                  Field<&CudaEventsRow::event>{"eventId"});
}

Status LoadGraphs(Load& load) {
  RETURN_IF_ERROR(LoadRows(
      load, load.store->graph_launches, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kStartEnd, KeepRow(),
      Field<&GraphLaunchesRow::process>{"globalPid"},
      Field<&GraphLaunchesRow::correlation>{"correlationId"},
      Field<&GraphLaunchesRow::device>{"deviceId"}, Field<&GraphLaunchesRow::context>{"contextId"},
      Field<&GraphLaunchesRow::stream>{"streamId"}, Field<&GraphLaunchesRow::graph>{"graphId"},
      Field<&GraphLaunchesRow::graph_exec>{"graphExecId"}));
  return LoadRows(load, load.store->graph_nodes, "CUDA_GRAPH_NODE_EVENTS", kAtStart, KeepRow(),
                  Field<&GraphNodesRow::thread>{"globalTid"},
                  Field<&GraphNodesRow::graph_node>{"graphNodeId"},
                  Field<&GraphNodesRow::original_graph_node>{"originalGraphNodeId"});
}

Status LoadAllocations(Load& load) {
  return LoadRows(load, load.store->gpu_memory_events, "CUDA_GPU_MEMORY_USAGE_EVENTS", kAtStart,
                  KeepRow(), Field<&GpuMemoryEventsRow::process>{"globalPid"},
                  Field<&GpuMemoryEventsRow::device>{"deviceId"},
                  Field<&GpuMemoryEventsRow::context>{"contextId"},
                  Field<&GpuMemoryEventsRow::correlation>{"correlationId"},
                  Field<&GpuMemoryEventsRow::address>{"address"},
                  Field<&GpuMemoryEventsRow::bytes>{"bytes"},
                  Field<&GpuMemoryEventsRow::memory_kind>{"memKind", Number(MemoryKind::kUnknown)},
                  Field<&GpuMemoryEventsRow::operation>{"memoryOperationType"});
}

Status LoadOverheads(Load& load) {
  return LoadRows(load, load.store->gpu_overheads, "CUPTI_ACTIVITY_KIND_OVERHEAD", kStartEnd,
                  KeepRow(), Field<&GpuOverheadsRow::process>{"globalTid"},
                  Field<&GpuOverheadsRow::thread>{"globalTid"},
                  Field<&GpuOverheadsRow::overhead_type>{"overheadType"},
                  Field<&GpuOverheadsRow::correlation>{"correlationId"});
}

}  // namespace

Status LoadApiCalls(Load& load) {
  return LoadRows(load, load.store->api_calls, "CUPTI_ACTIVITY_KIND_RUNTIME", kCall, KeepRow(),
                  Field<&ApiCallsRow::thread>{"globalTid"}, Field<&ApiCallsRow::name>{"nameId"},
                  Field<&ApiCallsRow::correlation>{"correlationId"},
                  Field<&ApiCallsRow::result>{"returnValue"},
                  Field<&ApiCallsRow::event_class>{"eventClass"});
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
  using Launch = KernelLaunchesRow;
  return LoadRows<Launch>(
      load, load.store->kernels, "CUPTI_ACTIVITY_KIND_KERNEL", kStartEnd, adopt,
      Field<&KernelsRow::process>{"globalPid"}, Field<&KernelsRow::correlation>{"correlationId"},
      Field<&KernelsRow::device>{"deviceId"}, Field<&KernelsRow::context>{"contextId"},
      Field<&KernelsRow::stream>{"streamId"}, Field<&KernelsRow::demangled_name>{"demangledName"},
      Field<&KernelsRow::short_name>{"shortName"}, Field<&KernelsRow::mangled_name>{"mangledName"},
      Field<&KernelsRow::graph_node>{"graphNodeId"}, Field<&Launch::grid_x>{"gridX"},
      Field<&Launch::grid_y>{"gridY"}, Field<&Launch::grid_z>{"gridZ"},
      Field<&Launch::block_x>{"blockX"}, Field<&Launch::block_y>{"blockY"},
      Field<&Launch::block_z>{"blockZ"}, Field<&Launch::registers_per_thread>{"registersPerThread"},
      Field<&Launch::static_shared_bytes>{"staticSharedMemory"},
      Field<&Launch::dynamic_shared_bytes>{"dynamicSharedMemory"},
      Field<&Launch::shared_executed_bytes>{"sharedMemoryExecuted"},
      Field<&Launch::local_bytes_per_thread>{"localMemoryPerThread"},
      Field<&Launch::local_bytes_total>{"localMemoryTotal"}, Field<&Launch::cluster_x>{"clusterX?"},
      Field<&Launch::cluster_y>{"clusterY?"}, Field<&Launch::cluster_z>{"clusterZ?"},
      Field<&Launch::launch_type>{"launchType"}, Field<&Launch::cache_config>{"cacheConfig?"},
      Field<&Launch::green_context>{"greenContextId"});
}

Status LoadMemoryOperations(Load& load) {
  RETURN_IF_ERROR(LoadCopies(load));
  return LoadSets(load);
}

Status LoadGpuEvents(Load& load) {
  RETURN_IF_ERROR(LoadWaits(load));
  RETURN_IF_ERROR(LoadRecordedEvents(load));
  RETURN_IF_ERROR(LoadGraphs(load));
  RETURN_IF_ERROR(LoadAllocations(load));
  return LoadOverheads(load);
}

Status LoadUnifiedMemory(Load& load) {
  RETURN_IF_ERROR(LoadRows(
      load, load.store->um_cpu_faults, "CUDA_UM_CPU_PAGE_FAULT_EVENTS", kAtStart, KeepRow(),
      Field<&UmCpuFaultsRow::process>{"globalPid"}, Field<&UmCpuFaultsRow::address>{"address"},
      Field<&UmCpuFaultsRow::instruction>{"CpuInstruction"},
      Field<&UmCpuFaultsRow::module>{"module"}, Field<&UmCpuFaultsRow::source_file>{"sourceFile"},
      Field<&UmCpuFaultsRow::source_line>{"sourceLine"}));
  return LoadRows(load, load.store->um_gpu_faults, "CUDA_UM_GPU_PAGE_FAULT_EVENTS", kStartEnd,
                  KeepRow(), Field<&UmGpuFaultsRow::process>{"globalPid"},
                  Field<&UmGpuFaultsRow::device>{"deviceId"},
                  Field<&UmGpuFaultsRow::address>{"address"},
                  Field<&UmGpuFaultsRow::fault_count>{"numberOfPageFaults"},
                  Field<&UmGpuFaultsRow::access_type>{"faultAccessType"});
}

}  // namespace batchlight::nsys
