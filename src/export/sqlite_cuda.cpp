// The CUDA tables of an nsys export. Rows are written by start, as nsys has them.
#include <algorithm>
#include <numeric>

#include "export/nsys_writer.h"

namespace batchlight {
namespace {

// Rows of a table that is ordered by thread, by start.
std::vector<uint32_t> ByStart(const std::vector<int64_t>& start) {
  std::vector<uint32_t> order(start.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return start[a] < start[b]; });
  return order;
}

Status WriteApiCalls(NsysWriter& writer) {
  const ApiCallsTable& calls = writer.store.api_calls;
  return writer.Table("CUPTI_ACTIVITY_KIND_RUNTIME",
                      "start end eventClass globalTid correlationId nameId returnValue",
                      calls.size(), [&](SqliteInsert& insert) {
                        for (const uint32_t row : ByStart(calls.start_ns)) {
                          if (!writer.Selects(calls.start_ns[row], calls.end_ns[row])) continue;
                          insert.Int(writer.Time(calls.start_ns[row]))
                              .Int(writer.End(calls.end_ns[row]))
                              .Int(Number(calls.event_class[row]))
                              .Int(writer.GlobalTid(calls.thread[row]))
                              .Int(calls.correlation[row])
                              .Int(writer.String(calls.name[row]))
                              .Int(calls.result[row]);
                          insert.Done();
                        }
                      });
}

// launchType to localMemoryTotal.
void InsertLaunch(const KernelLaunchesRow& launch, SqliteInsert& insert) {
  insert.Int(Number(launch.launch_type))
      .Int(Number(launch.cache_config))
      .Int(launch.registers_per_thread)
      .Int(launch.grid_x)
      .Int(launch.grid_y)
      .Int(launch.grid_z)
      .Int(launch.block_x)
      .Int(launch.block_y)
      .Int(launch.block_z)
      .Int(launch.static_shared_bytes)
      .Int(launch.dynamic_shared_bytes)
      .Int(launch.local_bytes_per_thread)
      .U64(launch.local_bytes_total);
}

Status WriteKernels(NsysWriter& writer) {
  const KernelsTable& kernels = writer.store.kernels;
  const KernelLaunchesTable& launches = writer.store.kernel_launches;
  return writer.Table(
      "CUPTI_ACTIVITY_KIND_KERNEL",
      "start end deviceId contextId greenContextId streamId correlationId globalPid demangledName "
      "shortName mangledName launchType cacheConfig registersPerThread gridX gridY gridZ blockX "
      "blockY blockZ staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal "
      "gridId sharedMemoryExecuted graphNodeId clusterX clusterY clusterZ "
      "tensorSizeMinusOneElements",
      kernels.size(), [&](SqliteInsert& insert) {
        for (size_t row = 0; row < kernels.size(); ++row) {
          if (!writer.Selects(kernels.start_ns[row], kernels.end_ns[row])) continue;
          const uint32_t launch = kernels.launch[row];
          const KernelLaunchesRow l =
              launch < launches.size() ? launches.Row(launch) : KernelLaunchesRow{};
          const StringId demangled = kernels.demangled_name[row];
          const StringId name = demangled.IsNone() ? kernels.short_name[row] : demangled;
          const StringId short_name =
              kernels.short_name[row].IsNone() ? name : kernels.short_name[row];
          if (name.IsNone()) continue;
          insert.Int(writer.Time(kernels.start_ns[row]))
              .Int(writer.End(kernels.end_ns[row]))
              .Int(kernels.device[row])
              .Int(kernels.context[row])
              .Int(l.green_context)
              .Int(kernels.stream[row])
              .Int(kernels.correlation[row])
              .Int(writer.GlobalPid(kernels.process[row]))
              .Int(writer.String(name))
              .Int(writer.String(short_name));
          if (kernels.mangled_name[row].IsNone()) {
            insert.Null();
          } else {
            insert.Int(writer.String(kernels.mangled_name[row]));
          }
          InsertLaunch(l, insert);
          insert.Int(static_cast<int64_t>(row) + 1)
              .Int(l.shared_executed_bytes)
              .IntOrNull(kernels.graph_node[row] != 0,
                         static_cast<int64_t>(kernels.graph_node[row]))
              .Int(l.cluster_x)
              .Int(l.cluster_y)
              .Int(l.cluster_z)
              .Text("[]");
          insert.Done();
        }
      });
}

Status WriteCopies(NsysWriter& writer) {
  const MemcpysTable& copies = writer.store.memcpys;
  const UmTransfersTable& unified = writer.store.um_transfers;
  return writer.Table(
      "CUPTI_ACTIVITY_KIND_MEMCPY",
      "start end deviceId contextId greenContextId streamId correlationId globalPid bytes copyKind "
      "srcKind dstKind srcDeviceId dstDeviceId migrationCause graphNodeId virtualAddress copyCount",
      copies.size(), [&](SqliteInsert& insert) {
        size_t next_unified = 0;  // um_transfers is ordered by copy
        for (size_t row = 0; row < copies.size(); ++row) {
          while (next_unified < unified.size() && unified.memcpy_row[next_unified] < row) {
            ++next_unified;
          }
          const bool is_unified =
              next_unified < unified.size() && unified.memcpy_row[next_unified] == row;
          if (!writer.Selects(copies.start_ns[row], copies.end_ns[row])) continue;
          insert.Int(writer.Time(copies.start_ns[row]))
              .Int(writer.End(copies.end_ns[row]))
              .Int(copies.device[row])
              .Int(copies.context[row])
              .Int(copies.green_context[row])
              .Int(copies.stream[row])
              .Int(copies.correlation[row])
              .Int(writer.GlobalPid(copies.process[row]))
              .U64(copies.bytes[row])
              .Int(Number(copies.copy_kind[row]))
              .Int(Number(copies.source_kind[row]))
              .Int(Number(copies.destination_kind[row]))
              .Int(copies.source_device[row])
              .Int(copies.destination_device[row]);
          if (is_unified) {
            insert.Int(Number(unified.migration_cause[next_unified]));
          } else {
            insert.Null();
          }
          insert.IntOrNull(copies.graph_node[row] != 0,
                           static_cast<int64_t>(copies.graph_node[row]));
          if (is_unified) {
            insert.U64(unified.virtual_address[next_unified]);
          } else {
            insert.Null();
          }
          insert.Int(1);
          insert.Done();
        }
      });
}

Status WriteSets(NsysWriter& writer) {
  const MemsetsTable& sets = writer.store.memsets;
  return writer.Table(
      "CUPTI_ACTIVITY_KIND_MEMSET",
      "start end deviceId contextId greenContextId streamId correlationId globalPid value bytes "
      "graphNodeId memKind",
      sets.size(), [&](SqliteInsert& insert) {
        for (size_t row = 0; row < sets.size(); ++row) {
          if (!writer.Selects(sets.start_ns[row], sets.end_ns[row])) continue;
          insert.Int(writer.Time(sets.start_ns[row]))
              .Int(writer.End(sets.end_ns[row]))
              .Int(sets.device[row])
              .Int(sets.context[row])
              .Int(sets.green_context[row])
              .Int(sets.stream[row])
              .Int(sets.correlation[row])
              .Int(writer.GlobalPid(sets.process[row]))
              .Int(sets.value[row])
              .U64(sets.bytes[row])
              .IntOrNull(sets.graph_node[row] != 0, static_cast<int64_t>(sets.graph_node[row]))
              .Int(Number(sets.memory_kind[row]));
          insert.Done();
        }
      });
}

// Device of a context; nsys itself always writes 0 here.
int64_t DeviceOf(const Store& store, ProcessId process, uint32_t context) {
  for (size_t row = 0; row < store.gpu_contexts.size(); ++row) {
    if (store.gpu_contexts.context[row] == context && store.gpu_contexts.process[row] == process) {
      return store.gpu_contexts.device[row];
    }
  }
  return 0;
}

Status WriteWaits(NsysWriter& writer) {
  const SynchronizationsTable& waits = writer.store.synchronizations;
  RETURN_IF_ERROR(
      writer.Table("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                   "start end deviceId contextId streamId correlationId globalPid syncType eventId",
                   waits.size(), [&](SqliteInsert& insert) {
                     for (size_t row = 0; row < waits.size(); ++row) {
                       if (!writer.Selects(waits.start_ns[row], waits.end_ns[row])) continue;
                       insert.Int(writer.Time(waits.start_ns[row]))
                           .Int(writer.End(waits.end_ns[row]))
                           .Int(DeviceOf(writer.store, waits.process[row], waits.context[row]))
                           .Int(waits.context[row])
                           .Int(waits.stream[row])
                           .Int(waits.correlation[row])
                           .Int(writer.GlobalPid(waits.process[row]))
                           .Int(Number(waits.sync_type[row]))
                           .Int(waits.event[row]);
                       insert.Done();
                     }
                   }));
  const CudaEventsTable& events = writer.store.cuda_events;
  return writer.Table("CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                      "timestamp deviceId contextId streamId correlationId globalPid eventId",
                      events.size(), [&](SqliteInsert& insert) {
                        for (size_t row = 0; row < events.size(); ++row) {
                          if (!writer.Selects(events.start_ns[row], events.start_ns[row])) continue;
                          insert.Int(writer.Time(events.start_ns[row]))
                              .Int(DeviceOf(writer.store, events.process[row], events.context[row]))
                              .Int(events.context[row])
                              .Int(events.stream[row])
                              .Int(events.correlation[row])
                              .Int(writer.GlobalPid(events.process[row]))
                              .Int(events.event[row]);
                          insert.Done();
                        }
                      });
}

Status WriteGraphs(NsysWriter& writer) {
  const GraphLaunchesTable& graphs = writer.store.graph_launches;
  RETURN_IF_ERROR(writer.Table(
      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
      "start end deviceId contextId streamId correlationId globalPid graphId graphExecId",
      graphs.size(), [&](SqliteInsert& insert) {
        for (size_t row = 0; row < graphs.size(); ++row) {
          if (!writer.Selects(graphs.start_ns[row], graphs.end_ns[row])) continue;
          insert.Int(writer.Time(graphs.start_ns[row]))
              .Int(writer.End(graphs.end_ns[row]))
              .Int(graphs.device[row])
              .Int(graphs.context[row])
              .Int(graphs.stream[row])
              .Int(graphs.correlation[row])
              .Int(writer.GlobalPid(graphs.process[row]))
              .Int(graphs.graph[row])
              .Int(graphs.graph_exec[row]);
          insert.Done();
        }
      }));
  const GraphNodesTable& nodes = writer.store.graph_nodes;
  const StringId node_name = writer.store.strings.Find("");
  return writer.Table("CUDA_GRAPH_NODE_EVENTS",
                      "start end eventClass globalTid nameId graphNodeId originalGraphNodeId",
                      nodes.size(), [&](SqliteInsert& insert) {
                        for (size_t row = 0; row < nodes.size(); ++row) {
                          if (!writer.Selects(nodes.start_ns[row], nodes.start_ns[row])) continue;
                          insert.Int(writer.Time(nodes.start_ns[row]))
                              .Int(writer.Time(nodes.start_ns[row]))
                              .Int(Number(EventClass::kGraphCreation))
                              .Int(writer.GlobalTid(nodes.thread[row]))
                              .Int(node_name.IsNone() ? 0 : writer.String(node_name))
                              .U64(nodes.graph_node[row])
                              .IntOrNull(nodes.original_graph_node[row] != 0,
                                         static_cast<int64_t>(nodes.original_graph_node[row]));
                          insert.Done();
                        }
                      });
}

Status WriteMemoryAndOverhead(NsysWriter& writer) {
  const GpuMemoryEventsTable& memory = writer.store.gpu_memory_events;
  RETURN_IF_ERROR(writer.Table(
      "CUDA_GPU_MEMORY_USAGE_EVENTS",
      "start globalPid deviceId contextId address pc bytes memKind memoryOperationType "
      "correlationId",
      memory.size(), [&](SqliteInsert& insert) {
        for (size_t row = 0; row < memory.size(); ++row) {
          if (!writer.Selects(memory.start_ns[row], memory.start_ns[row])) continue;
          insert.Int(writer.Time(memory.start_ns[row]))
              .Int(writer.GlobalPid(memory.process[row]))
              .Int(memory.device[row])
              .Int(memory.context[row])
              .U64(memory.address[row])
              .Int(0)
              .U64(memory.bytes[row])
              .Int(Number(memory.memory_kind[row]))
              .Int(Number(memory.operation[row]))
              .Int(memory.correlation[row]);
          insert.Done();
        }
      }));
  const GpuOverheadsTable& overheads = writer.store.gpu_overheads;
  return writer.Table("CUPTI_ACTIVITY_KIND_OVERHEAD",
                      "start end eventClass globalTid correlationId overheadType", overheads.size(),
                      [&](SqliteInsert& insert) {
                        for (const uint32_t row : ByStart(overheads.start_ns)) {
                          if (!writer.Selects(overheads.start_ns[row], overheads.end_ns[row])) {
                            continue;
                          }
                          const ThreadId thread = overheads.thread[row];
                          insert.Int(writer.Time(overheads.start_ns[row]))
                              .Int(writer.End(overheads.end_ns[row]))
                              .Int(Number(EventClass::kCudaOverhead))
                              .Int(thread.IsNone() ? writer.GlobalPid(overheads.process[row])
                                                   : writer.GlobalTid(thread))
                              .Int(overheads.correlation[row])
                              .Int(Number(overheads.overhead_type[row]));
                          insert.Done();
                        }
                      });
}

}  // namespace

Status WriteCudaTables(NsysWriter& writer) {
  RETURN_IF_ERROR(WriteApiCalls(writer));
  RETURN_IF_ERROR(WriteKernels(writer));
  RETURN_IF_ERROR(WriteCopies(writer));
  RETURN_IF_ERROR(WriteSets(writer));
  RETURN_IF_ERROR(WriteWaits(writer));
  RETURN_IF_ERROR(WriteGraphs(writer));
  return WriteMemoryAndOverhead(writer);
}

}  // namespace batchlight
