// BATCHLIGHT_* tables of an export of ours: the tables of the store that nsys has no table for, as
// they are. A column is named as in schema.def; strings are ids of StringIds, threads globalTid,
// processes globalPid, rows of other tables `row`. The importer reads them back.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace batchlight {

inline constexpr std::string_view kOwnTablePrefix = "BATCHLIGHT_";

// Tables of the store that the nsys tables hold already.
inline constexpr auto kTablesOfNsys = std::to_array<std::string_view>({"nvtx_domains",
                                                                       "nvtx_categories",
                                                                       "nvtx_attributes",
                                                                       "nvtx_payload_blobs",
                                                                       "nvtx_payload_schemas",
                                                                       "nvtx_payload_entries",
                                                                       "nvtx_ranges",
                                                                       "nvtx_marks",
                                                                       "gpus",
                                                                       "gpu_contexts",
                                                                       "gpu_streams",
                                                                       "api_calls",
                                                                       "kernels",
                                                                       "kernel_launches",
                                                                       "memcpys",
                                                                       "memsets",
                                                                       "synchronizations",
                                                                       "cuda_events",
                                                                       "graph_launches",
                                                                       "graph_nodes",
                                                                       "gpu_memory_events",
                                                                       "gpu_overheads",
                                                                       "os_calls",
                                                                       "profiler_overheads",
                                                                       "um_transfers",
                                                                       "um_cpu_faults",
                                                                       "um_gpu_faults",
                                                                       "mpi_events"});

constexpr bool IsOwnTable(std::string_view name) {
  for (const std::string_view table : kTablesOfNsys) {
    if (table == name) return false;
  }
  return true;
}

inline std::string OwnTableName(std::string_view name) {
  std::string table(kOwnTablePrefix);
  for (const char c : name) table += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return table;
}

}  // namespace batchlight
