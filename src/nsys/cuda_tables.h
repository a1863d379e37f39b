// CUDA's tables in nsys's file: calls, kernels, copies, waits, graphs, memory, page faults.
#pragma once

#include "nsys/cpu_tables.h"
#include "nsys/table.h"
#include "store/store.h"

namespace batchlight::nsys {

inline constexpr Table kKernel{
    "CUPTI_ACTIVITY_KIND_KERNEL",
    Holds{"kernels kernel_launches"},
    Start{"start!"},
    End{"end!"},
    Field<&KernelsRow::device>{"deviceId!"},
    Field<&KernelsRow::context>{"contextId!"},
    Field<&KernelLaunchesRow::green_context>{"greenContextId"},
    Field<&KernelsRow::stream>{"streamId!"},
    Field<&KernelsRow::correlation>{"correlationId"},
    Field<&KernelsRow::process>{"globalPid"},
    Field<&KernelsRow::demangled_name>{"demangledName!"},
    Field<&KernelsRow::short_name>{"shortName!"},
    Field<&KernelsRow::mangled_name>{"mangledName"},
    Field<&KernelLaunchesRow::launch_type>{"launchType"},
    Field<&KernelLaunchesRow::cache_config>{"cacheConfig?"},
    Field<&KernelLaunchesRow::registers_per_thread>{"registersPerThread!"},
    Field<&KernelLaunchesRow::grid_x>{"gridX!"},
    Field<&KernelLaunchesRow::grid_y>{"gridY!"},
    Field<&KernelLaunchesRow::grid_z>{"gridZ!"},
    Field<&KernelLaunchesRow::block_x>{"blockX!"},
    Field<&KernelLaunchesRow::block_y>{"blockY!"},
    Field<&KernelLaunchesRow::block_z>{"blockZ!"},
    Field<&KernelLaunchesRow::static_shared_bytes>{"staticSharedMemory!"},
    Field<&KernelLaunchesRow::dynamic_shared_bytes>{"dynamicSharedMemory!"},
    Field<&KernelLaunchesRow::local_bytes_per_thread>{"localMemoryPerThread!"},
    Field<&KernelLaunchesRow::local_bytes_total>{"localMemoryTotal!"},
    RowNumber{"gridId!"},
    Field<&KernelLaunchesRow::shared_executed_bytes>{"sharedMemoryExecuted"},
    NullField<&KernelsRow::graph_node>{"graphNodeId"},
    Unused{"sharedMemoryLimitConfig qmdBulkReleaseDone qmdPreexitDone qmdLastCtaDone graphId"},
    Field<&KernelLaunchesRow::cluster_x>{"clusterX?"},
    Field<&KernelLaunchesRow::cluster_y>{"clusterY?"},
    Field<&KernelLaunchesRow::cluster_z>{"clusterZ?"},
    Unused{"clusterSchedulingPolicy maxPotentialClusterSize maxActiveClusters "
           "sharedMemoryRequestedPercentage"},
    ConstantText{"tensorSizeMinusOneElements!", "[]"}};

// If the file does not say, the device that copied.
inline constexpr uint32_t kDeviceOfCopy = UINT32_MAX - 1;

// Only copies of unified memory have columns of UmTransfers.
inline constexpr Table kMemcpy{
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    Holds{"memcpys um_transfers"},
    Start{"start!"},
    End{"end!"},
    Field<&MemcpysRow::device>{"deviceId!"},
    Field<&MemcpysRow::context>{"contextId!"},
    Field<&MemcpysRow::green_context>{"greenContextId"},
    Field<&MemcpysRow::stream>{"streamId!"},
    Field<&MemcpysRow::correlation>{"correlationId"},
    Field<&MemcpysRow::process>{"globalPid"},
    Field<&MemcpysRow::bytes>{"bytes!"},
    Field<&MemcpysRow::copy_kind>{"copyKind!"},
    Unused{"deprecatedSrcId"},
    Field<&MemcpysRow::source_kind>{"srcKind", Number(MemoryKind::kUnknown)},
    Field<&MemcpysRow::destination_kind>{"dstKind", Number(MemoryKind::kUnknown)},
    Field<&MemcpysRow::source_device>{"srcDeviceId", kDeviceOfCopy},
    Unused{"srcContextId"},
    Field<&MemcpysRow::destination_device>{"dstDeviceId", kDeviceOfCopy},
    Unused{"dstContextId"},
    Field<&UmTransfersRow::migration_cause>{"migrationCause"},
    NullField<&MemcpysRow::graph_node>{"graphNodeId"},
    Field<&UmTransfersRow::virtual_address>{"virtualAddress"},
    Constant{"copyCount", 1}};

inline constexpr Table kMemset{
    "CUPTI_ACTIVITY_KIND_MEMSET",
    Holds{"memsets"},
    Start{"start!"},
    End{"end!"},
    Field<&MemsetsRow::device>{"deviceId!"},
    Field<&MemsetsRow::context>{"contextId!"},
    Field<&MemsetsRow::green_context>{"greenContextId"},
    Field<&MemsetsRow::stream>{"streamId!"},
    Field<&MemsetsRow::correlation>{"correlationId"},
    Field<&MemsetsRow::process>{"globalPid"},
    Field<&MemsetsRow::value>{"value!"},
    Field<&MemsetsRow::bytes>{"bytes!"},
    NullField<&MemsetsRow::graph_node>{"graphNodeId"},
    Field<&MemsetsRow::memory_kind>{"memKind", Number(MemoryKind::kUnknown)}};

inline constexpr Table kRuntime{"CUPTI_ACTIVITY_KIND_RUNTIME",
                                Holds{"api_calls"},
                                Start{"start!"},
                                End{"end!", true},
                                Field<&ApiCallsRow::event_class>{"eventClass!"},
                                Field<&ApiCallsRow::thread>{"globalTid"},
                                Field<&ApiCallsRow::correlation>{"correlationId"},
                                Field<&ApiCallsRow::name>{"nameId!"},
                                Field<&ApiCallsRow::result>{"returnValue!"},
                                WriteOnly{NullField<&CallChain::id>{"callchainId", 0}}};

// The device of a row's context; nsys itself writes 0.
struct ContextDevice {
  int64_t device = 0;
};

inline constexpr Table kSynchronization{
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    Holds{"synchronizations"},
    Start{"start!"},
    End{"end!"},
    WriteOnly{Field<&ContextDevice::device>{"deviceId!"}},
    Field<&SynchronizationsRow::context>{"contextId!"},
    Unused{"greenContextId"},
    Field<&SynchronizationsRow::stream>{"streamId!", UINT32_MAX},
    Field<&SynchronizationsRow::correlation>{"correlationId"},
    Field<&SynchronizationsRow::process>{"globalPid"},
    Unused{"deprecatedSyncType"},
    Field<&SynchronizationsRow::sync_type>{"syncType!"},
    Field<&SynchronizationsRow::event>{"eventId!", UINT32_MAX},
    Unused{"eventSyncId"}};
// From this schema on syncType is numbered as CUPTI does. Before, 2 stood for two things: a stream
// that waits for an event where the row names one, and else a wait for all work of a stream.
inline constexpr int kSyncTypesRenumbered = 25;

inline constexpr Table kCudaEvent{"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                                  Holds{"cuda_events"},
                                  Start{"timestamp?", true},
                                  WriteOnly{Field<&ContextDevice::device>{"deviceId!"}},
                                  Field<&CudaEventsRow::context>{"contextId!"},
                                  Unused{"greenContextId"},
                                  Field<&CudaEventsRow::stream>{"streamId!"},
                                  Field<&CudaEventsRow::correlation>{"correlationId"},
                                  Field<&CudaEventsRow::process>{"globalPid"},
                                  Field<&CudaEventsRow::event>{"eventId!"},
                                  Unused{"eventSyncId"}};

inline constexpr Table kGraphTrace{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                   Holds{"graph_launches"},
                                   Start{"start!"},
                                   End{"end!"},
                                   Field<&GraphLaunchesRow::device>{"deviceId!"},
                                   Field<&GraphLaunchesRow::context>{"contextId!"},
                                   Unused{"greenContextId"},
                                   Field<&GraphLaunchesRow::stream>{"streamId!"},
                                   Field<&GraphLaunchesRow::correlation>{"correlationId"},
                                   Field<&GraphLaunchesRow::process>{"globalPid"},
                                   Field<&GraphLaunchesRow::graph>{"graphId!"},
                                   Field<&GraphLaunchesRow::graph_exec>{"graphExecId!"}};

inline constexpr Table kOverhead{
    "CUPTI_ACTIVITY_KIND_OVERHEAD",
    Holds{"gpu_overheads"},
    Start{"start!"},
    End{"end!"},
    Constant{"eventClass!", Number(EventClass::kCudaOverhead)},
    ThreadOrProcess<&GpuOverheadsRow::thread, &GpuOverheadsRow::process>{"globalTid"},
    Field<&GpuOverheadsRow::correlation>{"correlationId"},
    Unused{"nameId"},
    Field<&GpuOverheadsRow::overhead_type>{"overheadType!"}};

// An id of StringIds, for nodes that have no name.
struct EmptyName {
  int64_t id = 0;
};

inline constexpr Table kGraphNode{
    "CUDA_GRAPH_NODE_EVENTS",
    Holds{"graph_nodes"},
    Start{"start!"},
    EndAtStart{"end!"},
    Constant{"eventClass!", Number(EventClass::kGraphCreation)},
    Field<&GraphNodesRow::thread>{"globalTid"},
    WriteOnly{Field<&EmptyName::id>{"nameId!"}},
    Field<&GraphNodesRow::graph_node>{"graphNodeId!"},
    NullField<&GraphNodesRow::original_graph_node>{"originalGraphNodeId"}};

inline constexpr Table kGpuMemoryUsage{
    "CUDA_GPU_MEMORY_USAGE_EVENTS",
    Holds{"gpu_memory_events"},
    Start{"start!"},
    Field<&GpuMemoryEventsRow::process>{"globalPid!"},
    Field<&GpuMemoryEventsRow::device>{"deviceId!"},
    Field<&GpuMemoryEventsRow::context>{"contextId!"},
    Field<&GpuMemoryEventsRow::address>{"address!"},
    Constant{"pc!", 0},
    Field<&GpuMemoryEventsRow::bytes>{"bytes!"},
    Field<&GpuMemoryEventsRow::memory_kind>{"memKind!", Number(MemoryKind::kUnknown)},
    Field<&GpuMemoryEventsRow::operation>{"memoryOperationType!"},
    Unused{"name:T"},
    Field<&GpuMemoryEventsRow::correlation>{"correlationId"},
    Unused{"streamId localMemoryPoolAddress localMemoryPoolReleaseThreshold localMemoryPoolSize "
           "localMemoryPoolUtilizedSize importedMemoryPoolAddress importedMemoryPoolProcessId"}};

inline constexpr Table kCpuPageFault{"CUDA_UM_CPU_PAGE_FAULT_EVENTS",
                                     Holds{"um_cpu_faults"},
                                     Start{"start!"},
                                     Field<&UmCpuFaultsRow::process>{"globalPid!"},
                                     Field<&UmCpuFaultsRow::address>{"address!"},
                                     Unused{"originalFaultPc"},
                                     Field<&UmCpuFaultsRow::instruction>{"CpuInstruction!"},
                                     Field<&UmCpuFaultsRow::module>{"module!"},
                                     Unused{"unresolvedFaultPc"},
                                     Field<&UmCpuFaultsRow::source_file>{"sourceFile"},
                                     NullField<&UmCpuFaultsRow::source_line>{"sourceLine"}};

inline constexpr Table kGpuPageFault{"CUDA_UM_GPU_PAGE_FAULT_EVENTS",
                                     Holds{"um_gpu_faults"},
                                     Start{"start!"},
                                     End{"end!"},
                                     Field<&UmGpuFaultsRow::process>{"globalPid!"},
                                     Field<&UmGpuFaultsRow::device>{"deviceId!"},
                                     Field<&UmGpuFaultsRow::address>{"address!"},
                                     Field<&UmGpuFaultsRow::fault_count>{"numberOfPageFaults!"},
                                     Field<&UmGpuFaultsRow::access_type>{"faultAccessType!"}};

}  // namespace batchlight::nsys
