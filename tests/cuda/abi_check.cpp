// Compares inject/cupti/abi.h, which is what we say CUPTI's records look like, with CUPTI's own
// headers. Compiles or does not; built where a CUDA 13 toolkit is installed.
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstddef>

#include "counters/profiler_abi.h"
#include "inject/counting/launch_choice.h"
#include "inject/cupti/abi.h"
#include "inject/cupti/pc_sampling_abi.h"

namespace ours = batchlight::inject::cupti;

#if CUPTI_API_VERSION >= 130000
#define SAME(Ours, member, Theirs, field)                                                     \
  static_assert(offsetof(ours::Ours, member) == offsetof(Theirs, field), #Theirs "." #field); \
  static_assert(sizeof(ours::Ours::member) == sizeof(Theirs::field), #Theirs "." #field)

SAME(KernelActivity, cache_config, CUpti_ActivityKernel10, cacheConfig);
SAME(KernelActivity, registers_per_thread, CUpti_ActivityKernel10, registersPerThread);
SAME(KernelActivity, start, CUpti_ActivityKernel10, start);
SAME(KernelActivity, end, CUpti_ActivityKernel10, end);
SAME(KernelActivity, device, CUpti_ActivityKernel10, deviceId);
SAME(KernelActivity, context, CUpti_ActivityKernel10, contextId);
SAME(KernelActivity, stream, CUpti_ActivityKernel10, streamId);
static_assert(offsetof(ours::KernelActivity, grid) == offsetof(CUpti_ActivityKernel10, gridX));
static_assert(offsetof(ours::KernelActivity, block) == offsetof(CUpti_ActivityKernel10, blockX));
SAME(KernelActivity, static_shared, CUpti_ActivityKernel10, staticSharedMemory);
SAME(KernelActivity, dynamic_shared, CUpti_ActivityKernel10, dynamicSharedMemory);
SAME(KernelActivity, local_per_thread, CUpti_ActivityKernel10, localMemoryPerThread);
SAME(KernelActivity, correlation, CUpti_ActivityKernel10, correlationId);
SAME(KernelActivity, name, CUpti_ActivityKernel10, name);
SAME(KernelActivity, launch_type, CUpti_ActivityKernel10, launchType);
SAME(KernelActivity, shared_executed, CUpti_ActivityKernel10, sharedMemoryExecuted);
SAME(KernelActivity, graph_node, CUpti_ActivityKernel10, graphNodeId);
SAME(KernelActivity, shared_limit_config, CUpti_ActivityKernel10, shmemLimitConfig);
SAME(KernelActivity, graph, CUpti_ActivityKernel10, graphId);
static_assert(offsetof(ours::KernelActivity, cluster) ==
              offsetof(CUpti_ActivityKernel10, clusterX));
SAME(KernelActivity, local_total_wide, CUpti_ActivityKernel10, localMemoryTotal_v2);
// CUDA 12 has the same up to where it ends.
SAME(KernelActivity, correlation, CUpti_ActivityKernel9, correlationId);
SAME(KernelActivity, name, CUpti_ActivityKernel9, name);
SAME(KernelActivity, graph, CUpti_ActivityKernel9, graphId);
SAME(KernelActivity, local_total_wide, CUpti_ActivityKernel9, localMemoryTotal_v2);

SAME(ApiActivity, cbid, CUpti_ActivityAPI, cbid);
SAME(ApiActivity, start, CUpti_ActivityAPI, start);
SAME(ApiActivity, thread, CUpti_ActivityAPI, threadId);
SAME(ApiActivity, correlation, CUpti_ActivityAPI, correlationId);
SAME(ApiActivity, result, CUpti_ActivityAPI, returnValue);

static_assert(sizeof(ours::LaunchAttribute) == sizeof(CUlaunchAttribute));
SAME(LaunchAttribute, id, CUlaunchAttribute, id);
SAME(LaunchAttribute, value, CUlaunchAttribute, value);
SAME(LaunchConfig, stream, CUlaunchConfig, hStream);
SAME(LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME(LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
static_assert(ours::kCooperativeAttribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
static_assert(offsetof(cuLaunchKernelEx_params, config) == 0);

SAME(PcStallReason, reason, CUpti_PCSamplingStallReason, pcSamplingStallReasonIndex);
SAME(PcStallReason, samples, CUpti_PCSamplingStallReason, samples);
static_assert(sizeof(ours::PcData) == sizeof(CUpti_PCSamplingPCData));
SAME(PcData, cubin, CUpti_PCSamplingPCData, cubinCrc);
SAME(PcData, offset, CUpti_PCSamplingPCData, pcOffset);
SAME(PcData, function, CUpti_PCSamplingPCData, functionName);
SAME(PcData, reason_count, CUpti_PCSamplingPCData, stallReasonCount);
SAME(PcData, reasons, CUpti_PCSamplingPCData, stallReason);
SAME(PcData, correlation, CUpti_PCSamplingPCData, correlationId);
static_assert(sizeof(ours::PcSamplingData) == sizeof(CUpti_PCSamplingData));
SAME(PcSamplingData, room, CUpti_PCSamplingData, collectNumPcs);
SAME(PcSamplingData, samples, CUpti_PCSamplingData, totalSamples);
SAME(PcSamplingData, dropped, CUpti_PCSamplingData, droppedSamples);
SAME(PcSamplingData, count, CUpti_PCSamplingData, totalNumPcs);
SAME(PcSamplingData, remaining, CUpti_PCSamplingData, remainingNumPcs);
SAME(PcSamplingData, pcs, CUpti_PCSamplingData, pPcData);
SAME(PcSamplingData, foreign, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
SAME(PcSamplingData, hardware_buffer_full, CUpti_PCSamplingData, hardwareBufferFull);
static_assert(sizeof(ours::PcConfiguration) == sizeof(CUpti_PCSamplingConfigurationInfo));
SAME(PcConfiguration, value, CUpti_PCSamplingConfigurationInfo, attributeData);
static_assert(sizeof(ours::PcConfigurationParams) == CUpti_PCSamplingConfigurationInfoParamsSize);
SAME(PcConfigurationParams, attributes, CUpti_PCSamplingConfigurationInfoParams,
     pPCSamplingConfigurationInfo);
static_assert(sizeof(ours::PcContextParams) == CUpti_PCSamplingEnableParamsSize);
static_assert(sizeof(ours::PcContextParams) == CUpti_PCSamplingStopParamsSize);
static_assert(sizeof(ours::PcGetDataParams) == CUpti_PCSamplingGetDataParamsSize);
SAME(PcGetDataParams, data, CUpti_PCSamplingGetDataParams, pcSamplingData);
static_assert(sizeof(ours::PcReasonCountParams) == CUpti_PCSamplingGetNumStallReasonsParamsSize);
static_assert(sizeof(ours::PcReasonsParams) == CUpti_PCSamplingGetStallReasonsParamsSize);
SAME(PcReasonsParams, names, CUpti_PCSamplingGetStallReasonsParams, stallReasons);
static_assert(sizeof(ours::CubinCrcParams) == CUpti_GetCubinCrcParamsSize);
SAME(CubinCrcParams, cubin, CUpti_GetCubinCrcParams, cubin);
static_assert(sizeof(ours::ModuleData) == sizeof(CUpti_ModuleResourceData));
SAME(ModuleData, cubin, CUpti_ModuleResourceData, pCubin);
static_assert(ours::kModuleLoaded == CUPTI_CBID_RESOURCE_MODULE_LOADED);
static_assert(ours::kModuleUnloads == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
static_assert(ours::kPcReasonBytes == CUPTI_STALL_REASON_STRING_SIZE);

SAME(MemcpyActivity, copy_kind, CUpti_ActivityMemcpy6, copyKind);
SAME(MemcpyActivity, bytes, CUpti_ActivityMemcpy6, bytes);
SAME(MemcpyActivity, start, CUpti_ActivityMemcpy6, start);
SAME(MemcpyActivity, correlation, CUpti_ActivityMemcpy6, correlationId);
SAME(MemcpyActivity, graph_node, CUpti_ActivityMemcpy6, graphNodeId);
SAME(MemcpyActivity, graph_node, CUpti_ActivityMemcpy5, graphNodeId);
SAME(MemcpyPeerActivity, source_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(MemcpyPeerActivity, destination_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME(MemcpyPeerActivity, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(MemcpyPeerActivity, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME(MemsetActivity, value, CUpti_ActivityMemset4, value);
SAME(MemsetActivity, correlation, CUpti_ActivityMemset4, correlationId);
SAME(MemsetActivity, memory_kind, CUpti_ActivityMemset4, memoryKind);
SAME(MemsetActivity, graph_node, CUpti_ActivityMemset4, graphNodeId);

SAME(SynchronizationActivity, type, CUpti_ActivitySynchronization2, type);
SAME(SynchronizationActivity, start, CUpti_ActivitySynchronization2, start);
SAME(SynchronizationActivity, event, CUpti_ActivitySynchronization2, cudaEventId);
SAME(SynchronizationActivity, event, CUpti_ActivitySynchronization, cudaEventId);
SAME(CudaEventActivity, event, CUpti_ActivityCudaEvent2, eventId);
SAME(CudaEventActivity, device_timestamp, CUpti_ActivityCudaEvent2, deviceTimestamp);
SAME(CudaEventActivity, event, CUpti_ActivityCudaEvent, eventId);
SAME(GraphTraceActivity, start, CUpti_ActivityGraphTrace2, start);
SAME(GraphTraceActivity, graph, CUpti_ActivityGraphTrace2, graphId);
SAME(GraphTraceActivity, stream, CUpti_ActivityGraphTrace2, streamId);
SAME(GraphTraceActivity, stream, CUpti_ActivityGraphTrace, streamId);
SAME(OverheadActivity, overhead_kind, CUpti_ActivityOverhead3, overheadKind);
SAME(OverheadActivity, start, CUpti_ActivityOverhead3, start);
SAME(OverheadActivity, correlation, CUpti_ActivityOverhead3, correlationId);
SAME(OverheadActivity, end, CUpti_ActivityOverhead, end);

SAME(MemoryActivity, address, CUpti_ActivityMemory4, address);
SAME(MemoryActivity, timestamp, CUpti_ActivityMemory4, timestamp);
SAME(MemoryActivity, device, CUpti_ActivityMemory4, deviceId);
SAME(MemoryActivity, name, CUpti_ActivityMemory4, name);
SAME(MemoryActivity, pool_address, CUpti_ActivityMemory4, memoryPoolConfig.address);
SAME(MemoryActivity, pool_used, CUpti_ActivityMemory4, memoryPoolConfig.utilizedSize);
SAME(MemoryPoolActivity, operation, CUpti_ActivityMemoryPool3, memoryPoolOperationType);
SAME(MemoryPoolActivity, device, CUpti_ActivityMemoryPool3, deviceId);
SAME(MemoryPoolActivity, address, CUpti_ActivityMemoryPool3, address);
SAME(MemoryPoolActivity, used, CUpti_ActivityMemoryPool3, utilizedSize);

SAME(DeviceActivity, memory_bytes, CUpti_ActivityDevice5, globalMemorySize);
SAME(DeviceActivity, clock_khz, CUpti_ActivityDevice5, coreClockRate);
SAME(DeviceActivity, sm_count, CUpti_ActivityDevice5, numMultiprocessors);
SAME(DeviceActivity, compute_major, CUpti_ActivityDevice5, computeCapabilityMajor);
SAME(DeviceActivity, uuid, CUpti_ActivityDevice5, uuid);
SAME(DeviceActivity, name, CUpti_ActivityDevice5, name);
SAME(DeviceActivity, name, CUpti_ActivityDevice4, name);
SAME(ContextActivity, device, CUpti_ActivityContext3, deviceId);
SAME(ContextActivity, null_stream, CUpti_ActivityContext3, nullStreamId);
SAME(ContextActivity, null_stream, CUpti_ActivityContext, nullStreamId);
SAME(StreamActivity, priority, CUpti_ActivityStream, priority);
SAME(StreamActivity, flag, CUpti_ActivityStream, flag);
SAME(JitActivity, start, CUpti_ActivityJit2, start);
SAME(JitActivity, cache_path, CUpti_ActivityJit2, cachePath);
SAME(JitActivity, thread, CUpti_ActivityJit2, threadId);
SAME(JitActivity, cache_path, CUpti_ActivityJit, cachePath);
SAME(UnifiedMemoryActivity, address, CUpti_ActivityUnifiedMemoryCounter3, address);
SAME(UnifiedMemoryActivity, flags, CUpti_ActivityUnifiedMemoryCounter3, flags);
SAME(UnifiedMemoryActivity, flags, CUpti_ActivityUnifiedMemoryCounter2, flags);

SAME(CallbackData, site, CUpti_CallbackData, callbackSite);
SAME(CallbackData, function_name, CUpti_CallbackData, functionName);
SAME(CallbackData, parameters, CUpti_CallbackData, functionParams);
SAME(CallbackData, return_value, CUpti_CallbackData, functionReturnValue);
SAME(CallbackData, context_id, CUpti_CallbackData, contextUid);
SAME(CallbackData, correlation_data, CUpti_CallbackData, correlationData);
SAME(CallbackData, correlation, CUpti_CallbackData, correlationId);
SAME(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME(GraphData, node, CUpti_GraphData, node);
SAME(GraphData, original_node, CUpti_GraphData, originalNode);

static_assert(uint32_t{ours::kConcurrentKernel} == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(uint32_t{ours::kMemcpyPeer} == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(uint32_t{ours::kMemory} == CUPTI_ACTIVITY_KIND_MEMORY2);
static_assert(uint32_t{ours::kGraphTrace} == CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
static_assert(uint32_t{ours::kJit} == CUPTI_ACTIVITY_KIND_JIT);
static_assert(uint32_t{ours::kPerThreadActivityBuffer} ==
              CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
static_assert(uint32_t{ours::kDeviceBufferPreAllocate} ==
              CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE);
static_assert(ours::kGraphNodeCreated == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
static_assert(ours::kGraphNodeCloned == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
static_assert(ours::kRuntimeProfilerStart == CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000);
static_assert(ours::kDriverProfilerStop == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
static_assert(ours::kErrorMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(ours::kErrorInsufficientPrivileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);

#define TRACED(number, name) static_assert(CUPTI_RUNTIME_TRACE_CBID_##name == number);
#define QUIET(number, name) static_assert(CUPTI_RUNTIME_TRACE_CBID_##name == number);
#include "format/cuda_runtime_calls.def"
#undef TRACED
#undef QUIET
#define TRACED(number, name) static_assert(CUPTI_DRIVER_TRACE_CBID_##name == number);
#define QUIET(number, name) static_assert(CUPTI_DRIVER_TRACE_CBID_##name == number);
#include "format/cuda_driver_calls.def"
#undef TRACED
#undef QUIET
// --- counters ------------------------------------------------------------------------------------
// As long as CUPTI's own for the versions that both know, and with its members where it has them.
namespace read = batchlight::counters;
#define PARAMS(Ours, Theirs) static_assert(read::Ours::Bytes() == Theirs##_STRUCT_SIZE, #Theirs)
#define PLACE(Ours, member, Theirs, field) \
  static_assert(offsetof(read::Ours, member) == offsetof(Theirs, field), #Theirs "." #field)

PARAMS(InitializeParams, CUpti_Profiler_Initialize_Params);
PARAMS(ChipNameParams, CUpti_Device_GetChipName_Params);
PARAMS(AvailabilityParams, CUpti_Profiler_GetCounterAvailability_Params);
PARAMS(HostInitializeParams, CUpti_Profiler_Host_Initialize_Params);
PARAMS(HostDeinitializeParams, CUpti_Profiler_Host_Deinitialize_Params);
PARAMS(SupportedChipsParams, CUpti_Profiler_Host_GetSupportedChips_Params);
PARAMS(BaseMetricsParams, CUpti_Profiler_Host_GetBaseMetrics_Params);
PARAMS(MetricPropertiesParams, CUpti_Profiler_Host_GetMetricProperties_Params);
PARAMS(AddMetricsParams, CUpti_Profiler_Host_ConfigAddMetrics_Params);
PARAMS(ConfigImageSizeParams, CUpti_Profiler_Host_GetConfigImageSize_Params);
PARAMS(ConfigImageParams, CUpti_Profiler_Host_GetConfigImage_Params);
PARAMS(PassesParams, CUpti_Profiler_Host_GetNumOfPasses_Params);
PARAMS(EvaluateParams, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
PARAMS(RangeEnableParams, CUpti_RangeProfiler_Enable_Params);
PARAMS(RangeObjectParams, CUpti_RangeProfiler_Disable_Params);
PARAMS(RangeObjectParams, CUpti_RangeProfiler_Start_Params);
PARAMS(RangeObjectParams, CUpti_RangeProfiler_PopRange_Params);
PARAMS(RangeConfigParams, CUpti_RangeProfiler_SetConfig_Params);
PARAMS(RangeStopParams, CUpti_RangeProfiler_Stop_Params);
PARAMS(PushRangeParams, CUpti_RangeProfiler_PushRange_Params);
PARAMS(RangeDecodeParams, CUpti_RangeProfiler_DecodeData_Params);
PARAMS(RangeDataSizeParams, CUpti_RangeProfiler_GetCounterDataSize_Params);
PARAMS(DataInitializeParams, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
PARAMS(RangeDataInfoParams, CUpti_RangeProfiler_GetCounterDataInfo_Params);
PARAMS(RangeInfoParams, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
PARAMS(PmAvailabilityParams, CUpti_PmSampling_GetCounterAvailability_Params);
PARAMS(PmEnableParams, CUpti_PmSampling_Enable_Params);
PARAMS(PmObjectParams, CUpti_PmSampling_Disable_Params);
PARAMS(PmObjectParams, CUpti_PmSampling_Start_Params);
PARAMS(PmObjectParams, CUpti_PmSampling_Stop_Params);
PARAMS(PmConfigParams, CUpti_PmSampling_SetConfig_Params);
PARAMS(PmDataSizeParams, CUpti_PmSampling_GetCounterDataSize_Params);
PARAMS(DataInitializeParams, CUpti_PmSampling_CounterDataImage_Initialize_Params);
PARAMS(PmDecodeParams, CUpti_PmSampling_DecodeData_Params);
PARAMS(PmDataInfoParams, CUpti_PmSampling_GetCounterDataInfo_Params);
PARAMS(PmSampleInfoParams, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
PLACE(RangeConfigParams, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
PLACE(RangeConfigParams, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
PLACE(RangeConfigParams, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
PLACE(RangeConfigParams, most_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
PLACE(RangeConfigParams, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
PLACE(RangeDataSizeParams, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
      maxNumRangeTreeNodes);
PLACE(EvaluateParams, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
PLACE(PmConfigParams, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
PLACE(PmDecodeParams, stop, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
PLACE(PmSampleInfoParams, start_ns, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
      startTimestamp);
static_assert(int{read::kAutoRange} == CUPTI_AutoRange && int{read::kUserRange} == CUPTI_UserRange);
static_assert(int{read::kUserReplay} == CUPTI_UserReplay);
static_assert(int{read::kPmSampling} == CUPTI_PROFILER_TYPE_PM_SAMPLING);
static_assert(int{read::kTimeInterval} == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
static_assert(int{read::kCounterDataFull} ==
              CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
#undef PARAMS
#undef PLACE
#endif
