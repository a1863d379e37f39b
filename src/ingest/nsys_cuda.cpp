// The CUDA tables of an nsys export: calls, kernels, copies, waits, graphs, allocations.
#include <array>
#include <functional>
#include <unordered_map>

#include "ingest/nsys_load.h"

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
                                    r.launch_type,
                                    r.cache_config,
                                    r.green_context};
  }
  bool operator()(const KernelLaunchesRow& a, const KernelLaunchesRow& b) const {
    return Fields(a) == Fields(b);
  }
};

using LaunchRows = std::unordered_map<KernelLaunchesRow, uint32_t, LaunchHash, LaunchEqual>;

KernelLaunchesRow ReadLaunch(NsysTable& rows) {
  return {.grid_x = rows.U32(11),
          .grid_y = rows.U32(12),
          .grid_z = rows.U32(13),
          .block_x = rows.U32(14),
          .block_y = rows.U32(15),
          .block_z = rows.U32(16),
          .registers_per_thread = rows.U32(17),
          .static_shared_bytes = rows.U32(18),
          .dynamic_shared_bytes = rows.U32(19),
          .shared_executed_bytes = rows.U32(20),
          .local_bytes_per_thread = rows.U32(21),
          .local_bytes_total = rows.U64(22),
          .cluster_x = rows.U32(23),
          .cluster_y = rows.U32(24),
          .cluster_z = rows.U32(25),
          .launch_type = static_cast<uint8_t>(rows.Int(26)),
          .cache_config = static_cast<uint8_t>(rows.Int(27)),
          .green_context = rows.U32(28)};
}

Status LoadCopies(Load& load) {
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load.database, "CUPTI_ACTIVITY_KIND_MEMCPY",
                                   {"start", "end", "globalPid", "correlationId", "deviceId",
                                    "contextId", "streamId", "bytes", "copyKind", "srcKind",
                                    "dstKind", "srcDeviceId", "dstDeviceId", "graphNodeId",
                                    "greenContextId", "virtualAddress", "migrationCause"}));
  MemcpysTable& table = load.store->memcpys;
  constexpr int64_t kUnknownKind = 7;
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    const auto kind = static_cast<uint8_t>(rows.Int(8));
    const uint32_t device = rows.U32(4);
    if (kind >= 11 && kind <= 13) {
      load.store->um_transfers.Append({.memcpy_row = static_cast<uint32_t>(table.size()),
                                       .virtual_address = rows.U64(15),
                                       .migration_cause = static_cast<uint8_t>(rows.Int(16))});
    }
    table.Append({.start_ns = times.start(),
                  .end_ns = times.end(),
                  .process = load.Process(rows, 2),
                  .correlation = rows.U32(3),
                  .device = device,
                  .context = rows.U32(5),
                  .stream = rows.U32(6),
                  .bytes = rows.U64(7),
                  .copy_kind = kind,
                  .source_kind = static_cast<uint8_t>(rows.Int(9, kUnknownKind)),
                  .destination_kind = static_cast<uint8_t>(rows.Int(10, kUnknownKind)),
                  .source_device = rows.U32(11, device),
                  .destination_device = rows.U32(12, device),
                  .graph_node = rows.U64(13),
                  .green_context = rows.U32(14)});
  }
  load.process_columns.push_back(&table.process);
  return times.Done(load);
}

Status LoadSets(Load& load) {
  ASSIGN_OR_RETURN(
      NsysTable rows,
      NsysTable::Open(*load.database, "CUPTI_ACTIVITY_KIND_MEMSET",
                      {"start", "end", "globalPid", "correlationId", "deviceId", "contextId",
                       "streamId", "value", "bytes", "memKind", "graphNodeId", "greenContextId"}));
  MemsetsTable& table = load.store->memsets;
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    table.Append({.start_ns = times.start(),
                  .end_ns = times.end(),
                  .process = load.Process(rows, 2),
                  .correlation = rows.U32(3),
                  .device = rows.U32(4),
                  .context = rows.U32(5),
                  .stream = rows.U32(6),
                  .value = rows.U32(7),
                  .bytes = rows.U64(8),
                  .memory_kind = static_cast<uint8_t>(rows.Int(9, 7)),
                  .graph_node = rows.U64(10),
                  .green_context = rows.U32(11)});
  }
  load.process_columns.push_back(&table.process);
  return times.Done(load);
}

Status LoadWaits(Load& load) {
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load.database, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                   {"start", "end", "globalPid", "correlationId", "contextId",
                                    "streamId", "syncType", "eventId"}));
  SynchronizationsTable& table = load.store->synchronizations;
  // Until 3.25 a stream synchronization was stored as 2, an event synchronization as 0.
  const bool renumber = load.schema_minor > 0 && load.schema_minor < kRedirectedSyncTypes;
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    const int64_t type = rows.Int(6) + (renumber ? 1 : 0);
    table.Append({.start_ns = times.start(),
                  .end_ns = times.end(),
                  .process = load.Process(rows, 2),
                  .correlation = rows.U32(3),
                  .context = rows.U32(4),
                  .stream = rows.U32(5, UINT32_MAX),
                  .sync_type = static_cast<uint8_t>(type >= 0 && type <= 4 ? type : 0),
                  .event = rows.U32(7, UINT32_MAX)});
  }
  load.process_columns.push_back(&table.process);
  return times.Done(load);
}

Status LoadRecordedEvents(Load& load) {
  ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(*load.database, "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                                                   {"timestamp", "globalPid", "correlationId",
                                                    "contextId", "streamId", "eventId"}));
  CudaEventsTable& table = load.store->cuda_events;
  Times times(rows);
  while (rows.Next()) {
    if (!times.ReadInstant(0)) continue;
    table.Append({.start_ns = times.start(),
                  .process = load.Process(rows, 1),
                  .correlation = rows.U32(2),
                  .context = rows.U32(3),
                  .stream = rows.U32(4),
                  .event = rows.U32(5)});
  }
  load.process_columns.push_back(&table.process);
  return times.Done(load);
}

Status LoadGraphs(Load& load) {
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load.database, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                   {"start", "end", "globalPid", "correlationId", "deviceId",
                                    "contextId", "streamId", "graphId", "graphExecId"}));
  GraphLaunchesTable& table = load.store->graph_launches;
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    table.Append({.start_ns = times.start(),
                  .end_ns = times.end(),
                  .process = load.Process(rows, 2),
                  .correlation = rows.U32(3),
                  .device = rows.U32(4),
                  .context = rows.U32(5),
                  .stream = rows.U32(6),
                  .graph = rows.U32(7),
                  .graph_exec = rows.U32(8)});
  }
  load.process_columns.push_back(&table.process);
  RETURN_IF_ERROR(times.Done(load));

  ASSIGN_OR_RETURN(NsysTable nodes,
                   NsysTable::Open(*load.database, "CUDA_GRAPH_NODE_EVENTS",
                                   {"start", "globalTid", "graphNodeId", "originalGraphNodeId"}));
  GraphNodesTable& node_table = load.store->graph_nodes;
  Times node_times(nodes);
  while (nodes.Next()) {
    if (!node_times.ReadInstant(0)) continue;
    node_table.Append({.start_ns = node_times.start(),
                       .thread = load.Thread(nodes, 1),
                       .graph_node = nodes.U64(2),
                       .original_graph_node = nodes.U64(3)});
  }
  load.thread_columns.push_back(&node_table.thread);
  return node_times.Done(load);
}

Status LoadAllocations(Load& load) {
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load.database, "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                   {"start", "globalPid", "deviceId", "contextId", "correlationId",
                                    "address", "bytes", "memKind", "memoryOperationType"}));
  GpuMemoryEventsTable& table = load.store->gpu_memory_events;
  Times times(rows);
  while (rows.Next()) {
    if (!times.ReadInstant(0)) continue;
    table.Append({.start_ns = times.start(),
                  .process = load.Process(rows, 1),
                  .device = rows.U32(2),
                  .context = rows.U32(3),
                  .correlation = rows.U32(4),
                  .address = rows.U64(5),
                  .bytes = rows.U64(6),
                  .memory_kind = static_cast<uint8_t>(rows.Int(7, 7)),
                  .operation = static_cast<uint8_t>(rows.Int(8))});
  }
  load.process_columns.push_back(&table.process);
  return times.Done(load);
}

Status LoadOverheads(Load& load) {
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load.database, "CUPTI_ACTIVITY_KIND_OVERHEAD",
                                   {"start", "end", "globalTid", "overheadType", "correlationId"}));
  GpuOverheadsTable& table = load.store->gpu_overheads;
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    table.Append({.start_ns = times.start(),
                  .end_ns = times.end(),
                  .process = load.Process(rows, 2),
                  .thread = load.Thread(rows, 2),
                  .overhead_type = static_cast<uint8_t>(rows.Int(3)),
                  .correlation = rows.U32(4)});
  }
  load.process_columns.push_back(&table.process);
  load.thread_columns.push_back(&table.thread);
  return times.Done(load);
}

}  // namespace

Status LoadApiCalls(Load& load) {
  ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(*load.database, "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                   {"start", "end", "globalTid", "nameId",
                                                    "correlationId", "returnValue", "eventClass"}));
  ApiCallsTable& table = load.store->api_calls;
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    table.Append({.start_ns = times.start(),
                  .end_ns = times.end(),
                  .thread = load.Thread(rows, 2),
                  .name = load.String(rows, 3),
                  .correlation = rows.U32(4),
                  .result = static_cast<int32_t>(rows.Int(5)),
                  .event_class = static_cast<uint8_t>(rows.Int(6))});
  }
  load.thread_columns.push_back(&table.thread);
  return times.Done(load);
}

Status LoadKernels(Load& load) {
  ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(*load.database, "CUPTI_ACTIVITY_KIND_KERNEL",
                                                   {"start",
                                                    "end",
                                                    "globalPid",
                                                    "correlationId",
                                                    "deviceId",
                                                    "contextId",
                                                    "streamId",
                                                    "demangledName",
                                                    "shortName",
                                                    "mangledName",
                                                    "graphNodeId",
                                                    "gridX",
                                                    "gridY",
                                                    "gridZ",
                                                    "blockX",
                                                    "blockY",
                                                    "blockZ",
                                                    "registersPerThread",
                                                    "staticSharedMemory",
                                                    "dynamicSharedMemory",
                                                    "sharedMemoryExecuted",
                                                    "localMemoryPerThread",
                                                    "localMemoryTotal",
                                                    "clusterX",
                                                    "clusterY",
                                                    "clusterZ",
                                                    "launchType",
                                                    "cacheConfig",
                                                    "greenContextId"}));
  KernelsTable& table = load.store->kernels;
  KernelLaunchesTable& launches = load.store->kernel_launches;
  LaunchRows launch_rows;
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    const KernelLaunchesRow launch = ReadLaunch(rows);
    const auto [place, added] =
        launch_rows.try_emplace(launch, static_cast<uint32_t>(launches.size()));
    if (added) launches.Append(launch);
    table.Append({.start_ns = times.start(),
                  .end_ns = times.end(),
                  .process = load.Process(rows, 2),
                  .correlation = rows.U32(3),
                  .device = rows.U32(4),
                  .context = rows.U32(5),
                  .stream = rows.U32(6),
                  .demangled_name = load.String(rows, 7),
                  .short_name = load.String(rows, 8),
                  .mangled_name = load.String(rows, 9),
                  .launch = place->second,
                  .graph_node = rows.U64(10)});
  }
  load.process_columns.push_back(&table.process);
  return times.Done(load);
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
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load.database, "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
                                   {"start", "globalPid", "address", "CpuInstruction", "module",
                                    "sourceFile", "sourceLine"}));
  UmCpuFaultsTable& cpu = load.store->um_cpu_faults;
  Times times(rows);
  while (rows.Next()) {
    if (!times.ReadInstant(0)) continue;
    cpu.Append({.start_ns = times.start(),
                .process = load.Process(rows, 1),
                .address = rows.U64(2),
                .instruction = load.String(rows, 3),
                .module = load.String(rows, 4),
                .source_file = load.String(rows, 5),
                .source_line = rows.U32(6)});
  }
  load.process_columns.push_back(&cpu.process);
  RETURN_IF_ERROR(times.Done(load));

  ASSIGN_OR_RETURN(NsysTable faults,
                   NsysTable::Open(*load.database, "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
                                   {"start", "end", "globalPid", "deviceId", "address",
                                    "numberOfPageFaults", "faultAccessType"}));
  UmGpuFaultsTable& gpu = load.store->um_gpu_faults;
  Times fault_times(faults);
  while (faults.Next()) {
    if (!fault_times.Read(0, 1)) continue;
    gpu.Append({.start_ns = fault_times.start(),
                .end_ns = fault_times.end(),
                .process = load.Process(faults, 2),
                .device = faults.U32(3),
                .address = faults.U64(4),
                .fault_count = faults.U32(5),
                .access_type = static_cast<uint8_t>(faults.Int(6))});
  }
  load.process_columns.push_back(&gpu.process);
  return fault_times.Done(load);
}

}  // namespace batchlight::nsys
