// The tables of an nsys export that are not CUDA's or NVTX's: OS runtime and system calls, the
// profiler's own overhead, OpenMP, OpenACC, cuDNN, cuBLAS, MPI, network counters.
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ingest/nsys/nsys_rows.h"

namespace batchlight::nsys {
namespace {

Status LoadCalls(Load& load, std::string_view name, EventClass event_class) {
  return LoadRows(load, load.store->os_calls, name, kCall, KeepRow(),
                  Field<&OsCallsRow::thread>{"globalTid"}, Field<&OsCallsRow::name>{"nameId"},
                  Field<&OsCallsRow::result>{"returnValue?"},
                  Field<&OsCallsRow::event_class>{"eventClass", Number(event_class)});
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

// Columns of which a row has one or the other.
struct Alternative {
  int64_t label = -1;
  StringId name;
  StringId file;  // of OpenACC: where the construct stands
  int64_t line = 0;
};

Status LoadRuntime(Load& load, const RuntimeSource& source) {
  if (load.database->Find(source.table) == nullptr) return Status();
  std::unordered_map<int64_t, StringId> labels;
  if (!source.labels.empty()) {
    ASSIGN_OR_RETURN(labels, Labels(load, source.labels));
  }
  const StringId fallback = load.store->strings.Intern(source.fallback);
  const auto adopt = [&](RuntimeEventsRow& row, const Alternative& kind) {
    row.family = source.family;
    if (row.name.IsNone()) {
      const auto label = labels.find(kind.label);
      row.name = label == labels.end() ? fallback : label->second;
    }
    if (kind.file.IsNone()) return;
    Store& store = *load.store;  // "compute@solve.c:12"
    row.name =
        store.strings.Intern(std::string(store.Text(row.name)) + '@' +
                             std::string(store.Text(kind.file)) + ':' + std::to_string(kind.line));
  };
  return LoadRows<Alternative>(
      load, load.store->runtime_events, source.table, kCall, adopt,
      Field<&RuntimeEventsRow::thread>{"globalTid"}, Field<&RuntimeEventsRow::name>{"nameId?"},
      Field<&Alternative::label>{"eventKind?", -1}, Field<&Alternative::file>{"srcFile?"},
      Field<&Alternative::line>{"lineNo?"});
}

using Ranks = std::unordered_map<int64_t, int32_t>;  // by globalTid

Status LoadMpiTable(Load& load, std::string_view name, MpiKind kind, const Ranks& ranks) {
  const auto adopt = [&](MpiEventsRow& row, const Alternative& other) {
    const auto rank =
        row.thread.IsNone() ? ranks.end() : ranks.find(load.threads.all()[row.thread.row()]);
    row.rank = rank == ranks.end() ? kNoMpiValue : rank->second;
    row.kind = kind;
    if (row.name.IsNone()) row.name = other.name;
    row.send_bytes = -1;
    if (kind == MpiKind::kCollective) {
      std::swap(row.bytes, row.send_bytes);
    } else {
      row.receive_bytes = -1;
    }
  };
  return LoadRows<Alternative>(
      load, load.store->mpi_events, name, kCall, adopt, Field<&MpiEventsRow::thread>{"globalTid"},
      Field<&MpiEventsRow::name>{"textId"}, Field<&MpiEventsRow::tag>{"tag?", kNoMpiValue},
      Field<&MpiEventsRow::peer_rank>{"remoteRank?", kNoMpiValue},
      Field<&MpiEventsRow::root_rank>{"rootRank?", kNoMpiValue},
      Field<&MpiEventsRow::bytes>{"size?", -1},
      Field<&MpiEventsRow::receive_bytes>{"recvSize?", -1}, Field<&Alternative::name>{"nameId?"});
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
  return LoadMpiTable(load, "MPI_OTHER_EVENTS", MpiKind::kOther, ranks);
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

  struct Sample {
    int64_t nic = 0;
    int64_t list = 0;
    int64_t metric = 0;
  };
  const auto adopt = [&](NetworkSamplesRow& row, const Sample& sample) {
    const auto nic = by_global.find(sample.nic);
    const auto metric = metrics.find({sample.list, sample.metric});
    row.device = nic == by_global.end() ? StringId::None() : nic->second.name;
    row.guid = nic == by_global.end() ? static_cast<uint64_t>(sample.nic) : nic->second.guid;
    row.metric = metric == metrics.end() ? load.strings->unknown() : metric->second;
  };
  for (const std::string_view name : {"NET_NIC_METRIC", "NET_IB_SWITCH_METRIC"}) {
    if (name != "NET_NIC_METRIC") by_global.clear();  // a switch is its own id and has no name
    RETURN_IF_ERROR(LoadRows<Sample>(
        load, load.store->network_samples, name, kStartEnd, adopt, Field<&Sample::nic>{"globalId"},
        Field<&Sample::list>{"metricsListId"}, Field<&Sample::metric>{"metricsIdx"},
        Field<&NetworkSamplesRow::value>{"value"}));
  }
  return Status();
}

}  // namespace

Status LoadOsCalls(Load& load) {
  RETURN_IF_ERROR(LoadCalls(load, "OSRT_API", EventClass::kOsRuntime));
  RETURN_IF_ERROR(LoadCalls(load, "SYSCALL", EventClass::kSystemCall));
  return LoadRows(load, load.store->profiler_overheads, "PROFILER_OVERHEAD", kCall, KeepRow(),
                  Field<&ProfilerOverheadsRow::thread>{"globalTid"},
                  Field<&ProfilerOverheadsRow::name>{"nameId"});
}

Status LoadOtherRuntimes(Load& load) {
  for (const RuntimeSource& source : kRuntimeSources) RETURN_IF_ERROR(LoadRuntime(load, source));
  RETURN_IF_ERROR(LoadMpi(load));
  return LoadNetwork(load);
}

}  // namespace batchlight::nsys
