// Session, machine, GPUs, contexts and streams of an nsys export. The environment of the program,
// which nsys stores, is left where it is.
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "ingest/nsys/nsys_load.h"

namespace batchlight::nsys {
namespace {

ProcessId FindProcess(const Store& store, uint64_t hardware, uint64_t vm, uint64_t pid) {
  const uint64_t global = hardware << 56 | vm << 48 | pid << 24;
  for (size_t row = 0; row < store.processes.size(); ++row) {
    if (store.processes.native_global_id[row] == global) return ProcessId::At(row);
  }
  return ProcessId::None();
}

constexpr std::string_view kOwnFormat = "batchlight-sqlite";

void AddProperty(Store& store, std::string_view key, std::string_view value) {
  store.properties.Append({.key = store.strings.Intern(key), .value = store.strings.Intern(value)});
}

Status LoadSession(Load& load) {
  Store& store = *load.store;
  ASSIGN_OR_RETURN(
      NsysTable start,
      NsysTable::Open(*load.database, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}));
  if (start.Next()) store.session_start_utc_ns = PossibleTimeOr(start.Int(0), 0);
  RETURN_IF_ERROR(start.status());
  ASSIGN_OR_RETURN(NsysTable details,
                   NsysTable::Open(*load.database, "ANALYSIS_DETAILS", {"duration"}));
  while (details.Next()) {
    store.duration_ns = std::max(store.duration_ns, PossibleTimeOr(details.Int(0), 0));
  }
  RETURN_IF_ERROR(details.status());

  if (store.source_format == kOwnFormat) return Status();  // has its own properties and reasons

  ASSIGN_OR_RETURN(NsysTable meta,
                   NsysTable::Open(*load.database, "META_DATA_EXPORT", {"name", "value"}));
  while (meta.Next()) {
    if (meta.Text(0) == "EXPORT_PRODUCT_VERSION") AddProperty(store, "nsys.version", meta.Text(1));
    if (meta.Text(0) == "EXPORT_SCHEMA_VERSION") AddProperty(store, "nsys.schema", meta.Text(1));
  }
  RETURN_IF_ERROR(meta.status());

  std::string command;
  std::map<int, std::string> arguments;
  ASSIGN_OR_RETURN(NsysTable capture,
                   NsysTable::Open(*load.database, "META_DATA_CAPTURE", {"name", "value"}));
  constexpr std::string_view kArgument = "PROCESS_0:ARGUMENT_";
  while (capture.Next()) {
    const std::string_view name = capture.Text(0);
    if (name == "PROCESS_0:COMMAND") command = capture.Text(1);
    if (name.starts_with(kArgument)) {
      arguments[std::atoi(std::string(name.substr(kArgument.size())).c_str())] = capture.Text(1);
    }
  }
  RETURN_IF_ERROR(capture.status());
  if (!command.empty()) {
    for (const auto& [number, argument] : arguments) command += ' ' + argument;
    AddProperty(store, "session.command", command);
  }

  ASSIGN_OR_RETURN(NsysTable diagnostics,
                   NsysTable::Open(*load.database, "DIAGNOSTIC_EVENT", {"severity", "text"}));
  constexpr int64_t kWarning = 2;
  constexpr int64_t kError = 3;
  const StringId feature = store.strings.Intern("nsys");
  while (diagnostics.Next()) {
    const int64_t severity = diagnostics.Int(0);
    if (severity != kWarning && severity != kError) continue;
    store.reasons.Append({.feature = feature, .text = store.strings.Intern(diagnostics.Text(1))});
  }
  return diagnostics.status();
}

Status LoadGpus(Load& load) {
  Store& store = *load.store;
  std::unordered_map<int64_t, uint32_t> cuda_ids;  // of the first process that saw the GPU
  ASSIGN_OR_RETURN(NsysTable devices,
                   NsysTable::Open(*load.database, "TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId"}));
  while (devices.Next()) cuda_ids.try_emplace(devices.Int(0), devices.U32(1));
  RETURN_IF_ERROR(devices.status());
  ASSIGN_OR_RETURN(
      NsysTable gpus,
      NsysTable::Open(*load.database, "TARGET_INFO_GPU",
                      {"id", "name", "uuid", "computeMajor", "computeMinor", "smCount", "clockRate",
                       "totalMemory", "memoryBandwidth", "l2CacheSize", "maxWarpsPerSm",
                       "threadsPerWarp", "maxBlocksPerSm", "maxRegistersPerSm", "maxShmemPerSm",
                       "maxRegistersPerBlock", "maxShmemPerBlockOptin"}));
  while (gpus.Next()) {
    const auto cuda_id = cuda_ids.find(gpus.Int(0));
    store.gpus.Append({.device = cuda_id == cuda_ids.end() ? gpus.U32(0) : cuda_id->second,
                       .name = store.strings.Intern(gpus.Text(1)),
                       .uuid = store.strings.Intern(gpus.Text(2)),
                       .compute_major = gpus.U32(3),
                       .compute_minor = gpus.U32(4),
                       .sm_count = gpus.U32(5),
                       .clock_khz = static_cast<uint32_t>(gpus.U64(6) / 1000),
                       .memory_bytes = gpus.U64(7),
                       .memory_bandwidth_bytes_per_s = gpus.U64(8),
                       .l2_bytes = gpus.U64(9),
                       .max_threads_per_sm = gpus.U32(10) * gpus.U32(11),
                       .max_blocks_per_sm = gpus.U32(12),
                       .max_registers_per_sm = gpus.U32(13),
                       .max_shared_bytes_per_sm = gpus.U32(14),
                       .max_registers_per_block = gpus.U32(15),
                       .max_shared_bytes_per_block = gpus.U32(16),
                       .warp_threads = gpus.U32(11)});
  }
  return gpus.status();
}

Status LoadContexts(Load& load) {
  Store& store = *load.store;
  ASSIGN_OR_RETURN(
      NsysTable contexts,
      NsysTable::Open(*load.database, "TARGET_INFO_CUDA_CONTEXT_INFO",
                      {"hwId", "vmId", "processId", "deviceId", "contextId", "nullStreamId"}));
  while (contexts.Next()) {
    store.gpu_contexts.Append(
        {.process = FindProcess(store, contexts.U64(0), contexts.U64(1), contexts.U64(2)),
         .device = contexts.U32(3),
         .context = contexts.U32(4),
         .null_stream = contexts.U32(5)});
  }
  RETURN_IF_ERROR(contexts.status());
  ASSIGN_OR_RETURN(NsysTable streams, NsysTable::Open(*load.database, "TARGET_INFO_CUDA_STREAM",
                                                      {"hwId", "vmId", "processId", "contextId",
                                                       "streamId", "priority", "flag"}));
  while (streams.Next()) {
    store.gpu_streams.Append(
        {.process = FindProcess(store, streams.U64(0), streams.U64(1), streams.U64(2)),
         .context = streams.U32(3),
         .stream = streams.U32(4),
         .priority = static_cast<int32_t>(streams.U32(5)),
         .flag = static_cast<StreamFlag>(streams.U32(6))});
  }
  return streams.status();
}

}  // namespace

Status LoadTargetInfo(Load& load) {
  RETURN_IF_ERROR(LoadSession(load));
  RETURN_IF_ERROR(LoadGpus(load));
  return LoadContexts(load);
}

}  // namespace batchlight::nsys
