// Strings, session, machine, processes and threads in nsys's file.
#pragma once

#include <optional>
#include <string_view>

#include "nsys/enums.h"
#include "nsys/global_ids.h"
#include "nsys/table.h"
#include "store/store.h"

namespace batchlight::nsys {

struct StringIdsRow {
  int64_t id = -1;
  std::string_view value;
};
inline constexpr Table kStringIds{"StringIds", kNothing, Field<&StringIdsRow::id>{"id!P", -1},
                                  Field<&StringIdsRow::value>{"value!"}};

struct NamedValue {
  std::string_view name;
  std::string_view value;
};
inline constexpr Table kCaptureFacts{"META_DATA_CAPTURE", PartOf("properties"),
                                     Field<&NamedValue::name>{"name!"},
                                     Field<&NamedValue::value>{"value"}};
inline constexpr Table kExportFacts{"META_DATA_EXPORT", kNothing, Field<&NamedValue::name>{"name!"},
                                    Field<&NamedValue::value>{"value"}};

struct SessionStart {
  int64_t utc_ns = 0;
  std::string_view utc;
};
inline constexpr Table kSessionStart{"TARGET_INFO_SESSION_START_TIME",
                                     kNothing,
                                     Field<&SessionStart::utc_ns>{"utcEpochNs"},
                                     WriteOnly{Field<&SessionStart::utc>{"utcTime"}},
                                     WriteOnly{Field<&SessionStart::utc>{"localTime"}},
                                     Unused{"systemClockNs"}};

struct SessionLength {
  int64_t duration_ns = 0;
};
inline constexpr Table kAnalysisDetails{"ANALYSIS_DETAILS",
                                        kNothing,
                                        Constant{"globalVid!", kVirtualMachine},
                                        Field<&SessionLength::duration_ns>{"duration!"},
                                        Constant{"startTime!", 0},
                                        WriteOnly{Field<&SessionLength::duration_ns>{"stopTime!"}}};

struct Diagnostic {
  int64_t time_ns = 0;
  Severity severity{};
  std::string_view text;
  int64_t process = 0;  // globalPid
};
inline constexpr Table kDiagnostics{
    "DIAGNOSTIC_EVENT",
    PartOf("reasons"),
    WriteOnly{Field<&Diagnostic::time_ns>{"timestamp!"}},
    Constant{"timestampType!", static_cast<int64_t>(TimestampSource::kTarget)},
    Constant{"source!", static_cast<int64_t>(DiagnosticSource::kAnalysis)},
    Field<&Diagnostic::severity>{"severity!"},
    Field<&Diagnostic::text>{"text!"},
    WriteOnly{Field<&Diagnostic::process>{"globalPid"}}};

struct ProcessName {
  int64_t process = 0;  // globalPid
  int64_t pid = 0;
  std::string_view name;
};
inline constexpr Table kProcesses{
    "PROCESSES", PartOf("processes"), Field<&ProcessName::process>{"globalPid"},
    WriteOnly{Field<&ProcessName::pid>{"pid"}}, Field<&ProcessName::name>{"name"}};

struct ThreadName {
  int64_t thread = 0;  // globalTid
  StringId name;
  int32_t priority = 0;
};
inline constexpr Table kThreadNames{
    "ThreadNames", PartOf("threads"), Field<&ThreadName::name>{"nameId!"},
    NullField<&ThreadName::priority>{"priority"}, Field<&ThreadName::thread>{"globalTid"}};

// What nsys's file says of a GPU beyond the store's row.
struct GpuFacts {
  int64_t id = 0;
  uint32_t warps_per_sm = 0;
};
inline constexpr Table kGpu{
    "TARGET_INFO_GPU",
    Holds{"gpus"},
    Constant{"vmId!", kVirtualMachine},
    Field<&GpuFacts::id>{"id!"},
    TextField<&GpusRow::name>{"name"},
    Unused{"busLocation:T isDiscrete"},
    Field<&GpusRow::l2_bytes>{"l2CacheSize"},
    Field<&GpusRow::memory_bytes>{"totalMemory"},
    Field<&GpusRow::memory_bandwidth_bytes_per_s>{"memoryBandwidth"},
    ScaledField<&GpusRow::clock_khz, 1000>{"clockRate"},
    Field<&GpusRow::sm_count>{"smCount"},
    Unused{"pwGpuId"},
    TextField<&GpusRow::uuid>{"uuid"},
    Unused{"luid chipName:T"},
    WriteOnly{Field<&GpusRow::device>{"cuDevice"}},
    Unused{"ctxswDevPath:T ctrlDevPath:T revision nodeMask constantMemory maxIPC"},
    Field<&GpusRow::max_registers_per_block>{"maxRegistersPerBlock"},
    Unused{"maxShmemPerBlock"},
    Field<&GpusRow::max_shared_bytes_per_block>{"maxShmemPerBlockOptin"},
    Field<&GpusRow::max_shared_bytes_per_sm>{"maxShmemPerSm"},
    Field<&GpusRow::max_registers_per_sm>{"maxRegistersPerSm"},
    Field<&GpusRow::warp_threads>{"threadsPerWarp"},
    Unused{"asyncEngines"},
    Field<&GpuFacts::warps_per_sm>{"maxWarpsPerSm"},
    Field<&GpusRow::max_blocks_per_sm>{"maxBlocksPerSm"},
    Unused{"maxThreadsPerBlock maxBlockDimX maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY "
           "maxGridDimZ"},
    Field<&GpusRow::compute_major>{"computeMajor"},
    Field<&GpusRow::compute_minor>{"computeMinor"},
    WriteOnly{Field<&GpusRow::compute_major>{"smMajor"}},
    WriteOnly{Field<&GpusRow::compute_minor>{"smMinor"}}};

// Which process saw which GPU under which ordinal.
struct CudaDevice {
  int64_t gpu = 0;
  uint32_t device = 0;
  int64_t pid = 0;
};
inline constexpr Table kCudaDevice{"TARGET_INFO_CUDA_DEVICE",
                                   kNothing,
                                   Field<&CudaDevice::gpu>{"gpuId"},
                                   Field<&CudaDevice::device>{"cudaId!"},
                                   WriteOnly{Field<&CudaDevice::pid>{"pid!"}},
                                   Unused{"uuid:T numMultiprocessors"}};

inline constexpr Table kCudaContext{"TARGET_INFO_CUDA_CONTEXT_INFO",
                                    Holds{"gpu_contexts"},
                                    Field<&GpuContextsRow::null_stream>{"nullStreamId!"},
                                    Field<&ProcessPlace::hardware>{"hwId!"},
                                    Field<&ProcessPlace::vm>{"vmId!"},
                                    Field<&ProcessPlace::pid>{"processId!"},
                                    Field<&GpuContextsRow::device>{"deviceId!"},
                                    Field<&GpuContextsRow::context>{"contextId!"},
                                    Constant{"parentContextId", 0},
                                    Constant{"isGreenContext", 0},
                                    Unused{"numMultiprocessors"}};

struct StreamPlace : ProcessPlace {
  uint32_t priority = 0;  // the bits of the store's signed one
};
inline constexpr Table kCudaStream{"TARGET_INFO_CUDA_STREAM",
                                   Holds{"gpu_streams"},
                                   Field<&GpuStreamsRow::stream>{"streamId!"},
                                   Field<&StreamPlace::hardware>{"hwId!"},
                                   Field<&StreamPlace::vm>{"vmId!"},
                                   Field<&StreamPlace::pid>{"processId!"},
                                   Field<&GpuStreamsRow::context>{"contextId!"},
                                   Field<&StreamPlace::priority>{"priority!"},
                                   Field<&GpuStreamsRow::flag>{"flag!"}};

// We have no data for these: programs that look for them find them empty.
inline constexpr Table kProcessStreams{"ProcessStreams", kNothing,
                                       Unused{"globalPid! filenameId! contentId!"}};
inline constexpr Table kAnalysisFile{"ANALYSIS_FILE", kNothing,
                                     Unused{"id!P filename:T contentId globalPid!"}};
inline constexpr Table kSystemEnvironment{
    "TARGET_INFO_SYSTEM_ENV", kNothing,
    Unused{"globalVid devStateName:T! name:T! nameEnum! value:T!"}};

}  // namespace batchlight::nsys
