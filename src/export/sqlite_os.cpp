// OS runtime and system calls, libraries, MPI, unified memory and the profiler's own overhead in an
// nsys export.
#include <algorithm>
#include <numeric>

#include "export/nsys_writer.h"

namespace batchlight {
namespace {

template <typename Keep>
std::vector<uint32_t> RowsByStart(const std::vector<int64_t>& start, const Keep& keep) {
  std::vector<uint32_t> order;
  for (uint32_t row = 0; row < start.size(); ++row) {
    if (keep(row)) order.push_back(row);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return start[a] < start[b]; });
  return order;
}

Status WriteCalls(NsysWriter& writer) {
  const OsCallsTable& calls = writer.store.os_calls;
  const auto of_class = [&](EventClass event_class) {
    return RowsByStart(calls.start_ns, [&](uint32_t row) {
      return calls.event_class[row] == event_class &&
             writer.Selects(calls.start_ns[row], calls.end_ns[row]);
    });
  };
  const std::vector<uint32_t> os_runtime = of_class(EventClass::kOsRuntime);
  RETURN_IF_ERROR(writer.Table(
      "OSRT_API", "start end eventClass globalTid nameId returnValue callchainId argumentsId",
      os_runtime.size(), [&](SqliteInsert& insert) {
        for (const uint32_t row : os_runtime) {
          insert.Int(writer.Time(calls.start_ns[row]))
              .Int(writer.End(calls.end_ns[row]))
              .Int(Number(EventClass::kOsRuntime))
              .Int(writer.GlobalTid(calls.thread[row]))
              .Int(writer.String(calls.name[row]))
              .Int(calls.result[row])
              .Int(0)
              .Int(0);
          insert.Done();
        }
      }));
  const std::vector<uint32_t> system = of_class(EventClass::kSystemCall);
  return writer.Table("SYSCALL", "start end eventClass globalTid nameId callchainId", system.size(),
                      [&](SqliteInsert& insert) {
                        for (const uint32_t row : system) {
                          insert.Int(writer.Time(calls.start_ns[row]))
                              .Int(writer.End(calls.end_ns[row]))
                              .Int(Number(EventClass::kSystemCall))
                              .Int(writer.GlobalTid(calls.thread[row]))
                              .Int(writer.String(calls.name[row]))
                              .Int(0);
                          insert.Done();
                        }
                      });
}

Status WriteLibraries(NsysWriter& writer) {
  struct Library {
    std::string_view table;
    RuntimeFamily family;
    EventClass event_class;
  };
  constexpr Library kLibraries[] = {{"CUDNN_EVENTS", RuntimeFamily::kCudnn, EventClass::kCudnn},
                                    {"CUBLAS_EVENTS", RuntimeFamily::kCublas, EventClass::kCublas}};
  const RuntimeEventsTable& events = writer.store.runtime_events;
  for (const Library& library : kLibraries) {
    const std::vector<uint32_t> rows = RowsByStart(events.start_ns, [&](uint32_t row) {
      return events.family[row] == library.family &&
             writer.Selects(events.start_ns[row], events.end_ns[row]);
    });
    RETURN_IF_ERROR(writer.Table(library.table, "start end eventClass globalTid nameId",
                                 rows.size(), [&](SqliteInsert& insert) {
                                   for (const uint32_t row : rows) {
                                     insert.Int(writer.Time(events.start_ns[row]))
                                         .Int(writer.End(events.end_ns[row]))
                                         .Int(Number(library.event_class))
                                         .Int(writer.GlobalTid(events.thread[row]))
                                         .Int(writer.String(events.name[row]));
                                     insert.Done();
                                   }
                                 }));
  }
  return Status();
}

Status WriteMpiKind(NsysWriter& writer, std::string_view table, std::string_view columns,
                    MpiKind kind) {
  const MpiEventsTable& events = writer.store.mpi_events;
  const std::vector<uint32_t> rows = RowsByStart(events.start_ns, [&](uint32_t row) {
    return events.kind[row] == kind && writer.Selects(events.start_ns[row], events.end_ns[row]);
  });
  return writer.Table(table, columns, rows.size(), [&](SqliteInsert& insert) {
    for (const uint32_t row : rows) {
      const MpiEventsRow event = events.Row(row);
      insert.Int(writer.Time(event.start_ns))
          .Int(writer.End(event.end_ns))
          .Int(writer.GlobalTid(event.thread));
      if (event.name.IsNone()) {
        insert.Null();
      } else {
        insert.Int(writer.String(event.name));
      }
      if (kind == MpiKind::kPointToPoint) {
        insert.IntOrNull(event.tag != kNoMpiValue, event.tag)
            .IntOrNull(event.peer_rank != kNoMpiValue, event.peer_rank)
            .IntOrNull(event.bytes >= 0, event.bytes);
      }
      if (kind == MpiKind::kCollective) {
        insert.IntOrNull(event.root_rank != kNoMpiValue, event.root_rank)
            .IntOrNull(event.send_bytes >= 0, event.send_bytes)
            .IntOrNull(event.receive_bytes >= 0, event.receive_bytes);
      }
      insert.Done();
    }
  });
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
  RETURN_IF_ERROR(
      writer.Table("MPI_RANKS", "globalTid rank", ranks.size(), [&](SqliteInsert& insert) {
        for (const auto& [thread, rank] : ranks) {
          insert.Int(thread).Int(rank);
          insert.Done();
        }
      }));
  RETURN_IF_ERROR(WriteMpiKind(writer, "MPI_P2P_EVENTS",
                               "start end globalTid textId tag remoteRank size",
                               MpiKind::kPointToPoint));
  RETURN_IF_ERROR(WriteMpiKind(writer, "MPI_COLLECTIVES_EVENTS",
                               "start end globalTid textId rootRank size recvSize",
                               MpiKind::kCollective));
  RETURN_IF_ERROR(WriteMpiKind(writer, "MPI_START_WAIT_EVENTS", "start end globalTid textId",
                               MpiKind::kStartWait));
  return WriteMpiKind(writer, "MPI_OTHER_EVENTS", "start end globalTid textId", MpiKind::kOther);
}

Status WriteUnifiedMemory(NsysWriter& writer) {
  const UmCpuFaultsTable& cpu = writer.store.um_cpu_faults;
  const auto optional_string = [&](SqliteInsert& insert, StringId text) {
    if (text.IsNone()) {
      insert.Null();
    } else {
      insert.Int(writer.String(text));
    }
  };
  RETURN_IF_ERROR(
      writer.Table("CUDA_UM_CPU_PAGE_FAULT_EVENTS",
                   "start globalPid address CpuInstruction module sourceFile sourceLine",
                   cpu.size(), [&](SqliteInsert& insert) {
                     for (size_t row = 0; row < cpu.size(); ++row) {
                       const UmCpuFaultsRow fault = cpu.Row(row);
                       if (!writer.Selects(fault.start_ns, fault.start_ns) ||
                           fault.instruction.IsNone() || fault.module.IsNone()) {
                         continue;
                       }
                       insert.Int(writer.Time(fault.start_ns))
                           .Int(writer.GlobalPid(fault.process))
                           .U64(fault.address)
                           .Int(writer.String(fault.instruction))
                           .Int(writer.String(fault.module));
                       optional_string(insert, fault.source_file);
                       insert.IntOrNull(fault.source_line != 0, fault.source_line);
                       insert.Done();
                     }
                   }));
  const UmGpuFaultsTable& gpu = writer.store.um_gpu_faults;
  return writer.Table("CUDA_UM_GPU_PAGE_FAULT_EVENTS",
                      "start end globalPid deviceId address numberOfPageFaults faultAccessType",
                      gpu.size(), [&](SqliteInsert& insert) {
                        for (size_t row = 0; row < gpu.size(); ++row) {
                          const UmGpuFaultsRow fault = gpu.Row(row);
                          if (!writer.Selects(fault.start_ns, fault.end_ns)) continue;
                          insert.Int(writer.Time(fault.start_ns))
                              .Int(writer.End(fault.end_ns))
                              .Int(writer.GlobalPid(fault.process))
                              .Int(fault.device)
                              .U64(fault.address)
                              .Int(fault.fault_count)
                              .Int(Number(fault.access_type));
                          insert.Done();
                        }
                      });
}

}  // namespace

Status WriteOsTables(NsysWriter& writer) {
  RETURN_IF_ERROR(WriteCalls(writer));
  RETURN_IF_ERROR(WriteLibraries(writer));
  RETURN_IF_ERROR(WriteMpi(writer));
  RETURN_IF_ERROR(WriteUnifiedMemory(writer));
  const ProfilerOverheadsTable& overheads = writer.store.profiler_overheads;
  return writer.Table("PROFILER_OVERHEAD", "start end globalTid nameId overheadType",
                      overheads.size(), [&](SqliteInsert& insert) {
                        for (size_t row = 0; row < overheads.size(); ++row) {
                          if (!writer.Selects(overheads.start_ns[row], overheads.end_ns[row])) {
                            continue;
                          }
                          insert.Int(writer.Time(overheads.start_ns[row]))
                              .Int(writer.End(overheads.end_ns[row]))
                              .Int(writer.GlobalTid(overheads.thread[row]))
                              .Int(writer.String(overheads.name[row]))
                              .Int(0);
                          insert.Done();
                        }
                      });
}

}  // namespace batchlight
