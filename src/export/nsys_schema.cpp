#include "export/nsys_schema.h"

#include <array>

namespace batchlight {
namespace {

constexpr auto kTables = std::to_array<NsysTableShape>({
    {"StringIds", "id!P value:T!"},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     "start! end! deviceId! contextId! greenContextId streamId! correlationId globalPid "
     "demangledName! shortName! mangledName launchType cacheConfig registersPerThread! gridX! "
     "gridY! gridZ! blockX! blockY! blockZ! staticSharedMemory! dynamicSharedMemory! "
     "localMemoryPerThread! localMemoryTotal! gridId! sharedMemoryExecuted graphNodeId "
     "sharedMemoryLimitConfig qmdBulkReleaseDone qmdPreexitDone qmdLastCtaDone graphId clusterX "
     "clusterY clusterZ clusterSchedulingPolicy maxPotentialClusterSize maxActiveClusters "
     "sharedMemoryRequestedPercentage tensorSizeMinusOneElements:T!"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     "start! end! deviceId! contextId! greenContextId streamId! correlationId globalPid bytes! "
     "copyKind! deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId "
     "migrationCause graphNodeId virtualAddress copyCount"},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     "start! end! deviceId! contextId! greenContextId streamId! correlationId globalPid value! "
     "bytes! graphNodeId memKind"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     "start! end! eventClass! globalTid correlationId nameId! returnValue! callchainId"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     "start! end! deviceId! contextId! greenContextId streamId! correlationId globalPid "
     "deprecatedSyncType syncType! eventId! eventSyncId"},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
     "timestamp deviceId! contextId! greenContextId streamId! correlationId globalPid eventId! "
     "eventSyncId"},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     "start! end! deviceId! contextId! greenContextId streamId! correlationId globalPid graphId! "
     "graphExecId!"},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD",
     "start! end! eventClass! globalTid correlationId nameId overheadType!"},
    {"CUDA_GRAPH_NODE_EVENTS",
     "start! end! eventClass! globalTid nameId! graphNodeId! originalGraphNodeId"},
    {"CUDNN_EVENTS", "start! end! eventClass! globalTid nameId!"},
    {"CUBLAS_EVENTS", "start! end! eventClass! globalTid nameId!"},
    {"CUDA_CALLCHAINS", "id! symbol! module! unresolved originalIP stackDepth!"},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS",
     "start! globalPid! deviceId! contextId! address! pc! bytes! memKind! memoryOperationType! "
     "name:T correlationId streamId localMemoryPoolAddress localMemoryPoolReleaseThreshold "
     "localMemoryPoolSize localMemoryPoolUtilizedSize importedMemoryPoolAddress "
     "importedMemoryPoolProcessId"},
    {"CUDA_UM_CPU_PAGE_FAULT_EVENTS",
     "start! globalPid! address! originalFaultPc CpuInstruction! module! unresolvedFaultPc "
     "sourceFile sourceLine"},
    {"CUDA_UM_GPU_PAGE_FAULT_EVENTS",
     "start! end! globalPid! deviceId! address! numberOfPageFaults! faultAccessType!"},
    {"NVTX_EVENTS",
     "start! end eventType! rangeId category color text:T globalTid endGlobalTid textId domainId "
     "uint64Value int64Value doubleValue:R uint32Value int32Value floatValue:R jsonTextId "
     "jsonText:T binaryData:T eventId!P"},
    {"NVTX_PAYLOAD_SCHEMAS", "domainId schemaId name:T type flags numEntries payloadSize alignTo"},
    {"NVTX_PAYLOAD_SCHEMA_ENTRIES",
     "domainId! schemaId! idx! flags type name:T description:T arrayOrUnionDetail offset"},
    {"OSRT_API",
     "start! end! eventClass! globalTid nameId! returnValue! nestingLevel callchainId! "
     "argumentsId!"},
    {"SYSCALL", "start! end! eventClass! globalTid nameId! callchainId!"},
    {"MPI_RANKS", "globalTid! rank!"},
    {"MPI_P2P_EVENTS", "start! end! globalTid textId commHandle tag remoteRank size requestHandle"},
    {"MPI_COLLECTIVES_EVENTS", "start! end! globalTid textId commHandle rootRank size recvSize"},
    {"MPI_START_WAIT_EVENTS", "start! end! globalTid textId requestHandle"},
    {"MPI_OTHER_EVENTS", "start! end! globalTid textId"},
    {"PROFILER_OVERHEAD", "start! end! globalTid nameId! overheadType!"},
    {"DIAGNOSTIC_EVENT", "timestamp! timestampType! source! severity! text:T! globalPid"},
    {"PROCESSES", "globalPid pid name:T"},
    {"ThreadNames", "nameId! priority globalTid"},
    {"ProcessStreams", "globalPid! filenameId! contentId!"},
    {"ANALYSIS_DETAILS", "globalVid! duration! startTime! stopTime!"},
    {"ANALYSIS_FILE", "id!P filename:T contentId globalPid!"},
    {"META_DATA_CAPTURE", "name:T! value:T"},
    {"META_DATA_EXPORT", "name:T! value:T"},
    {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs utcTime:T localTime:T systemClockNs"},
    {"TARGET_INFO_SYSTEM_ENV", "globalVid devStateName:T! name:T! nameEnum! value:T!"},
    {"TARGET_INFO_GPU",
     "vmId! id! name:T busLocation:T isDiscrete l2CacheSize totalMemory memoryBandwidth clockRate "
     "smCount pwGpuId uuid:T luid chipName:T cuDevice ctxswDevPath:T ctrlDevPath:T revision "
     "nodeMask constantMemory maxIPC maxRegistersPerBlock maxShmemPerBlock maxShmemPerBlockOptin "
     "maxShmemPerSm maxRegistersPerSm threadsPerWarp asyncEngines maxWarpsPerSm maxBlocksPerSm "
     "maxThreadsPerBlock maxBlockDimX maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY "
     "maxGridDimZ computeMajor computeMinor smMajor smMinor"},
    {"TARGET_INFO_CUDA_DEVICE", "gpuId cudaId! pid! uuid:T numMultiprocessors"},
    {"TARGET_INFO_CUDA_CONTEXT_INFO",
     "nullStreamId! hwId! vmId! processId! deviceId! contextId! parentContextId isGreenContext "
     "numMultiprocessors"},
    {"TARGET_INFO_CUDA_STREAM", "streamId! hwId! vmId! processId! contextId! priority! flag!"},
});

}  // namespace

std::span<const NsysTableShape> NsysTables() { return kTables; }

const NsysTableShape* FindNsysTable(std::string_view name) {
  for (const NsysTableShape& table : kTables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

std::string CreateStatement(const NsysTableShape& table) {
  std::string sql = "CREATE TABLE \"" + std::string(table.name) + "\" (";
  std::string_view rest = table.columns;
  for (bool first = true; !rest.empty(); first = false) {
    const size_t space = rest.find(' ');
    const std::string_view column = rest.substr(0, space);
    rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
    const size_t name_end = column.find_first_of(":!");
    const std::string_view marks =
        name_end == std::string_view::npos ? std::string_view() : column.substr(name_end);
    if (!first) sql += ", ";
    sql += '"' + std::string(column.substr(0, name_end)) + '"';
    sql += marks.find(":T") != std::string_view::npos   ? " TEXT"
           : marks.find(":R") != std::string_view::npos ? " REAL"
                                                        : " INTEGER";
    if (marks.find('!') != std::string_view::npos) sql += " NOT NULL";
    if (marks.find('P') != std::string_view::npos) sql += " PRIMARY KEY";
  }
  return sql + ")";
}

}  // namespace batchlight
