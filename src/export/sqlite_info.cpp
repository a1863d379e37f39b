// Session, machine, GPUs, processes, threads and what went wrong in an nsys export. The environment
// of the program is not stored and so not exported.
#include <algorithm>
#include <ctime>
#include <set>

#include "export/nsys_writer.h"

namespace batchlight {
namespace {

constexpr int64_t kVirtualMachine = int64_t{1} << 48;

std::string UtcText(int64_t utc_ns) {
  const std::time_t seconds = static_cast<std::time_t>(utc_ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return std::string(text, length);
}

Status WriteSession(NsysWriter& writer) {
  const Store& store = writer.store;
  const std::string utc = UtcText(store.session_start_utc_ns);
  RETURN_IF_ERROR(writer.Table("TARGET_INFO_SESSION_START_TIME", "utcEpochNs utcTime localTime", 1,
                               [&](SqliteInsert& insert) {
                                 insert.Int(store.session_start_utc_ns).Text(utc).Text(utc);
                                 insert.Done();
                               }));
  RETURN_IF_ERROR(writer.Table(
      "ANALYSIS_DETAILS", "globalVid duration startTime stopTime", 1, [&](SqliteInsert& insert) {
        insert.Int(kVirtualMachine).Int(store.duration_ns).Int(0).Int(store.duration_ns);
        insert.Done();
      }));
  const std::string now = UtcText(static_cast<int64_t>(std::time(nullptr)) * 1'000'000'000);
  const std::pair<std::string_view, std::string> meta[] = {
      {"EXPORT_PRODUCT_NAME", "batchlight"},
      {"EXPORT_SCHEMA_VERSION", std::string(kNsysSchemaVersion)},
      {"EXPORT_SCHEMA_VERSION_MAJOR", "3"},
      {"EXPORT_SCHEMA_VERSION_MINOR", "25"},
      {"EXPORT_SCHEMA_VERSION_MICRO", "0"},
      {"EXPORT_TIME_UTC", now},
      {"EXPORT_PARAM_LAZY", writer.options.lazy ? "true" : "false"},
      {"EXPORT_PARAM_TIME_SHIFT", std::to_string(writer.options.selection.shift_ns())},
      {"EXPORT_PARAM_TABLES_TO_EXPORT", writer.options.selection.tables_text()},
      {"EXPORT_PARAM_TIMES_TO_EXPORT", writer.options.selection.times_text()}};
  RETURN_IF_ERROR(
      writer.Table("META_DATA_EXPORT", "name value", std::size(meta), [&](SqliteInsert& insert) {
        for (const auto& [name, value] : meta) {
          insert.Text(name).Text(value);
          insert.Done();
        }
      }));
  return writer.Table("META_DATA_CAPTURE", "name value", store.properties.size(),
                      [&](SqliteInsert& insert) {
                        for (size_t row = 0; row < store.properties.size(); ++row) {
                          insert.Text(store.Text(store.properties.key[row]))
                              .Text(store.Text(store.properties.value[row]));
                          insert.Done();
                        }
                      });
}

int64_t PidOf(const Store& store, ProcessId process) {
  return process.IsNone() ? 0 : store.processes.pid[process.row()];
}

Status WriteGpus(NsysWriter& writer) {
  const Store& store = writer.store;
  return writer.Table(
      "TARGET_INFO_GPU",
      "vmId id name l2CacheSize totalMemory memoryBandwidth clockRate smCount uuid cuDevice "
      "maxRegistersPerBlock maxShmemPerBlockOptin maxShmemPerSm maxRegistersPerSm threadsPerWarp "
      "maxWarpsPerSm maxBlocksPerSm computeMajor computeMinor smMajor smMinor",
      store.gpus.size(), [&](SqliteInsert& insert) {
        for (size_t row = 0; row < store.gpus.size(); ++row) {
          const GpusRow gpu = store.gpus.Row(row);
          insert.Int(kVirtualMachine)
              .Int(gpu.device)
              .Text(store.Text(gpu.name))
              .U64(gpu.l2_bytes)
              .U64(gpu.memory_bytes)
              .U64(gpu.memory_bandwidth_bytes_per_s)
              .Int(int64_t{gpu.clock_khz} * 1000)
              .Int(gpu.sm_count)
              .Text(store.Text(gpu.uuid))
              .Int(gpu.device)
              .Int(gpu.max_registers_per_block)
              .Int(gpu.max_shared_bytes_per_block)
              .Int(gpu.max_shared_bytes_per_sm)
              .Int(gpu.max_registers_per_sm)
              .Int(gpu.warp_threads)
              .Int(gpu.warp_threads == 0 ? 0 : gpu.max_threads_per_sm / gpu.warp_threads)
              .Int(gpu.max_blocks_per_sm)
              .Int(gpu.compute_major)
              .Int(gpu.compute_minor)
              .Int(gpu.compute_major)
              .Int(gpu.compute_minor);
          insert.Done();
        }
      });
}

// Which process used which GPU, and its contexts and streams.
Status WriteCudaContexts(NsysWriter& writer) {
  const Store& store = writer.store;
  std::set<std::pair<uint32_t, int64_t>> devices;  // (CUDA ordinal, pid)
  for (size_t row = 0; row < store.gpu_contexts.size(); ++row) {
    devices.emplace(store.gpu_contexts.device[row], PidOf(store, store.gpu_contexts.process[row]));
  }
  RETURN_IF_ERROR(writer.Table("TARGET_INFO_CUDA_DEVICE", "gpuId cudaId pid", devices.size(),
                               [&](SqliteInsert& insert) {
                                 for (const auto& [device, owner] : devices) {
                                   insert.Int(device).Int(device).Int(owner);
                                   insert.Done();
                                 }
                               }));
  RETURN_IF_ERROR(writer.Table(
      "TARGET_INFO_CUDA_CONTEXT_INFO",
      "nullStreamId hwId vmId processId deviceId contextId parentContextId isGreenContext",
      store.gpu_contexts.size(), [&](SqliteInsert& insert) {
        for (size_t row = 0; row < store.gpu_contexts.size(); ++row) {
          const GpuContextsRow context = store.gpu_contexts.Row(row);
          insert.Int(context.null_stream)
              .Int(0)
              .Int(1)
              .Int(PidOf(store, context.process))
              .Int(context.device)
              .Int(context.context)
              .Int(0)
              .Int(0);
          insert.Done();
        }
      }));
  return writer.Table("TARGET_INFO_CUDA_STREAM",
                      "streamId hwId vmId processId contextId priority flag",
                      store.gpu_streams.size(), [&](SqliteInsert& insert) {
                        for (size_t row = 0; row < store.gpu_streams.size(); ++row) {
                          const GpuStreamsRow stream = store.gpu_streams.Row(row);
                          insert.Int(stream.stream)
                              .Int(0)
                              .Int(1)
                              .Int(PidOf(store, stream.process))
                              .Int(stream.context)
                              .Int(static_cast<uint32_t>(stream.priority))
                              .Int(Number(stream.flag));
                          insert.Done();
                        }
                      });
}

Status WriteProcesses(NsysWriter& writer) {
  const Store& store = writer.store;
  RETURN_IF_ERROR(writer.Table("PROCESSES", "globalPid pid name", store.processes.size(),
                               [&](SqliteInsert& insert) {
                                 for (size_t row = 0; row < store.processes.size(); ++row) {
                                   insert.Int(writer.GlobalPid(ProcessId::At(row)))
                                       .Int(store.processes.pid[row])
                                       .Text(store.Text(store.processes.name[row]));
                                   insert.Done();
                                 }
                               }));
  std::vector<size_t> named;
  for (size_t row = 0; row < store.threads.size(); ++row) {
    if (!store.threads.name[row].IsNone()) named.push_back(row);
  }
  return writer.Table(
      "ThreadNames", "nameId priority globalTid", named.size(), [&](SqliteInsert& insert) {
        for (const size_t row : named) {
          insert.Int(writer.String(store.threads.name[row]))
              .IntOrNull(store.threads.priority[row] != 0, store.threads.priority[row])
              .Int(writer.GlobalTid(ThreadId::At(row)));
          insert.Done();
        }
      });
}

Status WriteDiagnostics(NsysWriter& writer) {
  const ReasonsTable& reasons = writer.store.reasons;
  constexpr int64_t kTarget = 1;
  constexpr int64_t kAnalysis = 3;
  constexpr int64_t kWarning = 2;
  return writer.Table("DIAGNOSTIC_EVENT", "timestamp timestampType source severity text globalPid",
                      reasons.size(), [&](SqliteInsert& insert) {
                        for (size_t row = 0; row < reasons.size(); ++row) {
                          insert.Int(writer.Time(0))
                              .Int(kTarget)
                              .Int(kAnalysis)
                              .Int(kWarning)
                              .Text(writer.store.Text(reasons.text[row]))
                              .Int(writer.GlobalPid(reasons.process[row]));
                          insert.Done();
                        }
                      });
}

}  // namespace

Status WriteInfoTables(NsysWriter& writer) {
  RETURN_IF_ERROR(WriteSession(writer));
  RETURN_IF_ERROR(WriteGpus(writer));
  RETURN_IF_ERROR(WriteCudaContexts(writer));
  RETURN_IF_ERROR(WriteProcesses(writer));
  return WriteDiagnostics(writer);
}

}  // namespace batchlight
