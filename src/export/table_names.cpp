#include "export/table_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "export/nsys_enums.h"
#include "export/nsys_schema.h"
#include "store/own_tables.h"
#include "store/store.h"

namespace batchlight {
namespace {

struct Pair {
  std::string_view ours;
  std::string_view nsys;
};

constexpr auto kPairs = std::to_array<Pair>({
    {"kernels", "CUPTI_ACTIVITY_KIND_KERNEL"},
    {"kernel_launches", "CUPTI_ACTIVITY_KIND_KERNEL"},
    {"memcpys", "CUPTI_ACTIVITY_KIND_MEMCPY"},
    {"um_transfers", "CUPTI_ACTIVITY_KIND_MEMCPY"},
    {"memsets", "CUPTI_ACTIVITY_KIND_MEMSET"},
    {"api_calls", "CUPTI_ACTIVITY_KIND_RUNTIME"},
    {"synchronizations", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"},
    {"cuda_events", "CUPTI_ACTIVITY_KIND_CUDA_EVENT"},
    {"graph_launches", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"},
    {"graph_nodes", "CUDA_GRAPH_NODE_EVENTS"},
    {"gpu_overheads", "CUPTI_ACTIVITY_KIND_OVERHEAD"},
    {"gpu_memory_events", "CUDA_GPU_MEMORY_USAGE_EVENTS"},
    {"um_cpu_faults", "CUDA_UM_CPU_PAGE_FAULT_EVENTS"},
    {"um_gpu_faults", "CUDA_UM_GPU_PAGE_FAULT_EVENTS"},
    {"nvtx_ranges", "NVTX_EVENTS"},
    {"nvtx_marks", "NVTX_EVENTS"},
    {"nvtx_domains", "NVTX_EVENTS"},
    {"nvtx_categories", "NVTX_EVENTS"},
    {"nvtx_attributes", "NVTX_EVENTS"},
    {"nvtx_payload_blobs", "NVTX_EVENTS"},
    {"nvtx_payload_schemas", "NVTX_PAYLOAD_SCHEMAS"},
    {"nvtx_payload_entries", "NVTX_PAYLOAD_SCHEMA_ENTRIES"},
    {"os_calls", "OSRT_API"},
    {"os_calls", "SYSCALL"},
    {"mpi_events", "MPI_P2P_EVENTS"},
    {"mpi_events", "MPI_COLLECTIVES_EVENTS"},
    {"mpi_events", "MPI_START_WAIT_EVENTS"},
    {"mpi_events", "MPI_OTHER_EVENTS"},
    {"runtime_events", "CUDNN_EVENTS"},
    {"runtime_events", "CUBLAS_EVENTS"},
    {"profiler_overheads", "PROFILER_OVERHEAD"},
    {"reasons", "DIAGNOSTIC_EVENT"},
    {"processes", "PROCESSES"},
    {"threads", "ThreadNames"},
    {"properties", "META_DATA_CAPTURE"},
    {"gpus", "TARGET_INFO_GPU"},
    {"gpu_contexts", "TARGET_INFO_CUDA_CONTEXT_INFO"},
    {"gpu_streams", "TARGET_INFO_CUDA_STREAM"},
    {"network_samples", "NET_NIC_METRIC"},
    {"network_samples", "NET_IB_SWITCH_METRIC"},
});

// Tables of nsys for what batchlight does not record or keeps elsewhere.
constexpr auto kNeverWritten =
    std::to_array<std::string_view>({"COMPOSITE_EVENTS",
                                     "SCHED_EVENTS",
                                     "SAMPLING_CALLCHAINS",
                                     "OSRT_CALLCHAINS",
                                     "GPU_METRICS",
                                     "TARGET_INFO_GPU_METRICS",
                                     "TARGET_INFO_NIC_INFO",
                                     "GPU_CONTEXT_SWITCH_EVENTS",
                                     "GENERIC_EVENTS",
                                     "GENERIC_EVENT_TYPES",
                                     "GENERIC_EVENT_SOURCES",
                                     "GENERIC_EVENT_DATA",
                                     "CUPTI_ACTIVITY_KIND_OPENACC_DATA",
                                     "CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH",
                                     "CUPTI_ACTIVITY_KIND_OPENACC_OTHER",
                                     "OPENMP_EVENT_KIND_PARALLEL",
                                     "OPENMP_EVENT_KIND_SYNC_REGION",
                                     "OPENMP_EVENT_KIND_TASK",
                                     "CUDNN_API",
                                     "CUBLAS_API"});

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  Store().VisitTables([&](const auto& table) {
    names.emplace_back(table.kName);
    if (IsOwnTable(table.kName)) names.push_back(OwnTableName(table.kName));
  });
  for (const NsysTableShape& table : NsysTables()) names.emplace_back(table.name);
  names.insert(names.end(), kNeverWritten.begin(), kNeverWritten.end());
  for (const NsysEnum& table : NsysEnums()) names.emplace_back(table.table);
  for (const Pair& pair : kPairs) names.emplace_back(pair.nsys);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::vector<std::string> OtherTableNames(std::string_view name) {
  std::vector<std::string> others;
  for (const Pair& pair : kPairs) {
    if (pair.ours == name) others.emplace_back(pair.nsys);
    if (pair.nsys == name) others.emplace_back(pair.ours);
  }
  if (name.starts_with(kOwnTablePrefix)) {
    std::string own(name.substr(kOwnTablePrefix.size()));
    std::transform(own.begin(), own.end(), own.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    others.push_back(own);
  } else if (IsOwnTable(name)) {
    others.push_back(OwnTableName(name));
  }
  return others;
}

const std::vector<std::string>& KnownTableNames() {
  static const std::vector<std::string> kNames = AllNames();
  return kNames;
}

}  // namespace batchlight
