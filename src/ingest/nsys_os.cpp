// The tables of an nsys export that are not CUDA's or NVTX's: OS runtime and system calls, the
// profiler's own overhead, OpenMP, OpenACC, cuDNN, cuBLAS, MPI, network counters.
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ingest/nsys_load.h"

namespace batchlight::nsys {
namespace {

constexpr uint8_t kOsRuntimeClass = 27;
constexpr uint8_t kSystemCallClass = 107;

Status LoadCalls(Load& load, std::string_view name, uint8_t event_class) {
  ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(*load.database, name,
                                                   {"start", "end", "globalTid", "nameId",
                                                    "returnValue", "eventClass"}));
  OsCallsTable& table = load.store->os_calls;
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    table.Append({.start_ns = times.start(),
                  .end_ns = times.end(),
                  .thread = load.Thread(rows, 2),
                  .name = load.String(rows, 3),
                  .result = rows.Int(4),
                  .event_class = static_cast<uint8_t>(rows.Int(5, event_class))});
  }
  return times.Done(load);
}

// Labels of an ENUM_* table; empty when the file has none.
Result<std::unordered_map<int64_t, StringId>> Labels(Load& load, std::string_view name) {
  std::unordered_map<int64_t, StringId> labels;
  ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(*load.database, name, {"id", "label"}));
  while (rows.Next()) labels.emplace(rows.Int(0), load.store->strings.Intern(rows.Text(1)));
  RETURN_IF_ERROR(rows.status());
  return labels;
}

struct RuntimeSource {
  std::string_view table;
  RuntimeFamily family;
  std::string_view labels;    // of column eventKind
  std::string_view fallback;  // name of an event that has neither name nor label
};

constexpr RuntimeSource kRuntimeSources[] = {
    {"CUDNN_EVENTS", RuntimeFamily::kCudnn, "", "cuDNN call"},
    {"CUBLAS_EVENTS", RuntimeFamily::kCublas, "", "cuBLAS call"},
    {"CUPTI_ACTIVITY_KIND_OPENACC_DATA", RuntimeFamily::kOpenAcc, "ENUM_OPENACC_EVENT_KIND",
     "OpenACC data"},
    {"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", RuntimeFamily::kOpenAcc, "ENUM_OPENACC_EVENT_KIND",
     "OpenACC launch"},
    {"CUPTI_ACTIVITY_KIND_OPENACC_OTHER", RuntimeFamily::kOpenAcc, "ENUM_OPENACC_EVENT_KIND",
     "OpenACC"},
    {"OPENMP_EVENT_KIND_THREAD", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND", "OpenMP thread"},
    {"OPENMP_EVENT_KIND_PARALLEL", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP parallel"},
    {"OPENMP_EVENT_KIND_SYNC_REGION_WAIT", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP sync region wait"},
    {"OPENMP_EVENT_KIND_SYNC_REGION", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP sync region"},
    {"OPENMP_EVENT_KIND_TASK", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND", "OpenMP task"},
    {"OPENMP_EVENT_KIND_MASTER", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND", "OpenMP master"},
    {"OPENMP_EVENT_KIND_REDUCTION", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP reduction"},
    {"OPENMP_EVENT_KIND_TASK_CREATE", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP task create"},
    {"OPENMP_EVENT_KIND_TASK_SCHEDULE", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP task schedule"},
    {"OPENMP_EVENT_KIND_CANCEL", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND", "OpenMP cancel"},
    {"OPENMP_EVENT_KIND_MUTEX_WAIT", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP mutex wait"},
    {"OPENMP_EVENT_KIND_CRITICAL_SECTION", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP critical section"},
    {"OPENMP_EVENT_KIND_MUTEX_RELEASED", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP mutex released"},
    {"OPENMP_EVENT_KIND_LOCK_INIT", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP lock init"},
    {"OPENMP_EVENT_KIND_LOCK_DESTROY", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP lock destroy"},
    {"OPENMP_EVENT_KIND_WORKSHARE", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP workshare"},
    {"OPENMP_EVENT_KIND_DISPATCH", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND",
     "OpenMP dispatch"},
    {"OPENMP_EVENT_KIND_FLUSH", RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND", "OpenMP flush"},
};

Status LoadRuntime(Load& load, const RuntimeSource& source) {
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load.database, source.table,
                                   {"start", "end", "globalTid", "nameId", "eventKind"}));
  if (!rows.exists()) return Status();
  std::unordered_map<int64_t, StringId> labels;
  if (!source.labels.empty()) {
    ASSIGN_OR_RETURN(labels, Labels(load, source.labels));
  }
  const StringId fallback = load.store->strings.Intern(source.fallback);
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    StringId name = load.String(rows, 3);
    if (name.IsNone()) {
      const auto label = labels.find(rows.Int(4, -1));
      name = label == labels.end() ? fallback : label->second;
    }
    load.store->runtime_events.Append({.start_ns = times.start(),
                                       .end_ns = times.end(),
                                       .thread = load.Thread(rows, 2),
                                       .name = name,
                                       .family = static_cast<uint8_t>(source.family)});
  }
  return times.Done(load);
}

using Ranks = std::unordered_map<int64_t, int32_t>;

Status LoadMpiTable(Load& load, std::string_view name, MpiKind kind, const Ranks& ranks) {
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load.database, name,
                                   {"start", "end", "globalTid", "textId", "tag", "remoteRank",
                                    "rootRank", "size", "recvSize", "nameId"}));
  const bool collective = kind == MpiKind::kCollective;
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    StringId text = load.String(rows, 3);
    if (text.IsNone()) text = load.String(rows, 9);
    const auto rank = ranks.find(rows.Int(2));
    load.store->mpi_events.Append({.start_ns = times.start(),
                                   .end_ns = times.end(),
                                   .thread = load.Thread(rows, 2),
                                   .name = text,
                                   .kind = static_cast<uint8_t>(kind),
                                   .tag = static_cast<int32_t>(rows.Int(4, kNoMpiValue)),
                                   .rank = rank == ranks.end() ? kNoMpiValue : rank->second,
                                   .peer_rank = static_cast<int32_t>(rows.Int(5, kNoMpiValue)),
                                   .root_rank = static_cast<int32_t>(rows.Int(6, kNoMpiValue)),
                                   .bytes = collective ? -1 : rows.Int(7, -1),
                                   .send_bytes = collective ? rows.Int(7, -1) : -1,
                                   .receive_bytes = collective ? rows.Int(8, -1) : -1});
  }
  return times.Done(load);
}

Status LoadMpi(Load& load) {
  Ranks ranks;
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load.database, "MPI_RANKS", {"globalTid", "rank"}));
  while (rows.Next()) ranks[rows.Int(0)] = static_cast<int32_t>(rows.Int(1));
  RETURN_IF_ERROR(rows.status());
  RETURN_IF_ERROR(LoadMpiTable(load, "MPI_P2P_EVENTS", MpiKind::kPointToPoint, ranks));
  RETURN_IF_ERROR(LoadMpiTable(load, "MPI_COLLECTIVES_EVENTS", MpiKind::kCollective, ranks));
  RETURN_IF_ERROR(LoadMpiTable(load, "MPI_START_WAIT_EVENTS", MpiKind::kStartWait, ranks));
  RETURN_IF_ERROR(LoadMpiTable(load, "MPI_OTHER_EVENTS", MpiKind::kOther, ranks));
  load.thread_columns.push_back(&load.store->mpi_events.thread);
  return Status();
}

struct Nic {
  StringId name;
  uint64_t guid = 0;
};

Status LoadNetwork(Load& load) {
  StringPool& strings = load.store->strings;
  std::map<std::pair<int64_t, int64_t>, StringId> metrics;
  ASSIGN_OR_RETURN(NsysTable names, NsysTable::Open(*load.database, "TARGET_INFO_NETWORK_METRICS",
                                                    {"metricsListId", "metricsIdx", "name"}));
  while (names.Next()) metrics[{names.Int(0), names.Int(1)}] = strings.Intern(names.Text(2));
  RETURN_IF_ERROR(names.status());

  std::unordered_map<int64_t, Nic> by_nic;
  std::unordered_map<int64_t, Nic> by_global;
  ASSIGN_OR_RETURN(NsysTable nics, NsysTable::Open(*load.database, "TARGET_INFO_NIC_INFO",
                                                   {"GUID", "name", "nicId", "globalId"}));
  while (nics.Next()) {
    const Nic nic{strings.Intern(nics.Text(1)), nics.U64(0)};
    by_nic[nics.Int(2, -1)] = nic;
    if (!nics.IsNull(3)) by_global[nics.Int(3)] = nic;
  }
  RETURN_IF_ERROR(nics.status());
  ASSIGN_OR_RETURN(NsysTable map,
                   NsysTable::Open(*load.database, "NIC_ID_MAP", {"nicId", "globalId"}));
  while (map.Next()) {
    const auto nic = by_nic.find(map.Int(0));
    if (nic != by_nic.end()) by_global[map.Int(1)] = nic->second;
  }
  RETURN_IF_ERROR(map.status());

  for (const char* name : {"NET_NIC_METRIC", "NET_IB_SWITCH_METRIC"}) {
    ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(*load.database, name,
                                                     {"start", "end", "globalId", "metricsListId",
                                                      "metricsIdx", "value"}));
    Times times(rows);
    while (rows.Next()) {
      if (!times.Read(0, 1)) continue;
      const auto nic = by_global.find(rows.Int(2));
      const auto metric = metrics.find({rows.Int(3), rows.Int(4)});
      load.store->network_samples.Append(
          {.start_ns = times.start(),
           .end_ns = times.end(),
           .device = nic == by_global.end() ? StringId::None() : nic->second.name,
           .guid = nic == by_global.end() ? rows.U64(2) : nic->second.guid,
           .metric = metric == metrics.end() ? load.strings->unknown() : metric->second,
           .value = rows.Int(5)});
    }
    RETURN_IF_ERROR(times.Done(load));
  }
  return Status();
}

}  // namespace

Status LoadOsCalls(Load& load) {
  RETURN_IF_ERROR(LoadCalls(load, "OSRT_API", kOsRuntimeClass));
  RETURN_IF_ERROR(LoadCalls(load, "SYSCALL", kSystemCallClass));
  load.thread_columns.push_back(&load.store->os_calls.thread);

  ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(*load.database, "PROFILER_OVERHEAD",
                                                   {"start", "end", "globalTid", "nameId"}));
  ProfilerOverheadsTable& table = load.store->profiler_overheads;
  Times times(rows);
  while (rows.Next()) {
    if (!times.Read(0, 1)) continue;
    table.Append({.start_ns = times.start(),
                  .end_ns = times.end(),
                  .thread = load.Thread(rows, 2),
                  .name = load.String(rows, 3)});
  }
  load.thread_columns.push_back(&table.thread);
  return times.Done(load);
}

Status LoadOtherRuntimes(Load& load) {
  for (const RuntimeSource& source : kRuntimeSources) RETURN_IF_ERROR(LoadRuntime(load, source));
  load.thread_columns.push_back(&load.store->runtime_events.thread);
  RETURN_IF_ERROR(LoadMpi(load));
  return LoadNetwork(load);
}

}  // namespace batchlight::nsys
