// The tables of an nsys export that are not CUDA's or NVTX's: OS runtime and system calls, the
// profiler's own overhead, OpenMP, OpenACC, cuDNN, cuBLAS, MPI, network counters.
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ingest/nsys/call_chains.h"
#include "ingest/nsys/nsys_rows.h"
#include "nsys/enums.h"
#include "nsys/os_tables.h"
#include "nsys/own_tables.h"
#include "nsys/runtime_tables.h"

namespace batchlight::nsys {
namespace {

// Labels of an ENUM_* table; empty when the file has no such table.
Result<std::unordered_map<int64_t, StringId>> Labels(Load& load, std::string_view name) {
  std::unordered_map<int64_t, StringId> labels;
  RETURN_IF_ERROR(VisitRows<EnumValue>(load, EnumTable(name), [&](const EnumValue& value) {
    labels.emplace(value.id, load.store->strings.Intern(value.label));
  }));
  return labels;
}

Status LoadLibrary(Load& load, const decltype(kCudnn)& table, RuntimeFamily family,
                   std::string_view fallback) {
  if (load.database->Find(table.name) == nullptr) return Status();
  const StringId unnamed = load.store->strings.Intern(fallback);
  const auto adopt = [&](RuntimeEventsRow& row, NoRow) {
    if (row.name.IsNone()) row.name = unnamed;
  };
  return LoadRows(load, load.store->runtime_events, table, adopt, {.family = family});
}

Status LoadRuntime(Load& load, const RuntimeSource& source) {
  if (load.database->Find(source.table) == nullptr) return Status();
  ASSIGN_OR_RETURN(const auto labels, Labels(load, source.labels));
  const StringId fallback = load.store->strings.Intern(source.fallback);
  const auto adopt = [&](RuntimeEventsRow& row, const RuntimeConstruct& construct) {
    if (row.name.IsNone()) {
      const auto label = labels.find(construct.label);
      row.name = label == labels.end() ? fallback : label->second;
    }
    if (construct.file.IsNone()) return;
    Store& store = *load.store;  // "compute@solve.c:12"
    row.name = store.strings.Intern(std::string(store.Text(row.name)) + '@' +
                                    std::string(store.Text(construct.file)) + ':' +
                                    std::to_string(construct.line));
  };
  return LoadRows<RuntimeConstruct>(load, load.store->runtime_events, RuntimeEvents(source.table),
                                    adopt, {.family = source.family});
}

using Ranks = std::unordered_map<int64_t, int32_t>;  // by globalTid

template <typename... Columns>
Status LoadMpiTable(Load& load, const Table<Columns...>& table, MpiKind kind, const Ranks& ranks) {
  const auto adopt = [&](MpiEventsRow& row, const MpiOtherName& other) {
    const auto rank =
        row.thread.IsNone() ? ranks.end() : ranks.find(load.threads.all()[row.thread.row()]);
    if (rank != ranks.end()) row.rank = rank->second;
    if (row.name.IsNone()) row.name = other.name;
  };
  const MpiEventsRow blank = {.kind = kind,
                              .tag = kNoMpiValue,
                              .rank = kNoMpiValue,
                              .peer_rank = kNoMpiValue,
                              .root_rank = kNoMpiValue,
                              .bytes = -1,
                              .send_bytes = -1,
                              .receive_bytes = -1};
  return LoadRows<MpiOtherName>(load, load.store->mpi_events, table, adopt, blank);
}

Status LoadMpi(Load& load) {
  Ranks ranks;
  RETURN_IF_ERROR(VisitRows<MpiRank>(load, kMpiRanks, [&](const MpiRank& row) {
    ranks[row.thread] = static_cast<int32_t>(row.rank);
  }));
  RETURN_IF_ERROR(LoadMpiTable(load, kMpiPointToPoint, MpiKind::kPointToPoint, ranks));
  RETURN_IF_ERROR(LoadMpiTable(load, kMpiCollectives, MpiKind::kCollective, ranks));
  RETURN_IF_ERROR(LoadMpiTable(load, kMpiStartWait, MpiKind::kStartWait, ranks));
  return LoadMpiTable(load, kMpiOther, MpiKind::kOther, ranks);
}

struct NetworkNames {
  std::map<std::pair<int64_t, int64_t>, StringId> metrics;  // by list and index
  std::unordered_map<int64_t, Nic> nics;                    // by global id
};

Result<NetworkNames> ReadNetworkNames(Load& load) {
  NetworkNames names;
  RETURN_IF_ERROR(
      VisitRows<NetworkMetricName>(load, kNetworkMetricNames, [&](const NetworkMetricName& row) {
        names.metrics[{row.list, row.metric}] = row.name;
      }));
  std::unordered_map<int64_t, Nic> by_nic;
  RETURN_IF_ERROR(VisitRows<Nic>(load, kNics, [&](const Nic& nic) {
    by_nic[nic.nic] = nic;
    if (nic.global.has_value()) names.nics[*nic.global] = nic;
  }));
  RETURN_IF_ERROR(VisitRows<Nic>(load, kNicIds, [&](const Nic& row) {
    const auto nic = by_nic.find(row.nic);
    if (nic != by_nic.end()) names.nics[row.global.value_or(0)] = nic->second;
  }));
  return names;
}

Status LoadNetwork(Load& load) {
  ASSIGN_OR_RETURN(NetworkNames names, ReadNetworkNames(load));
  const auto adopt = [&](NetworkSamplesRow& row, const NetworkMetric& sample) {
    const auto nic = names.nics.find(sample.nic);
    const auto metric = names.metrics.find({sample.list, sample.metric});
    const bool known = nic != names.nics.end();
    row.device = known ? nic->second.name : StringId::None();
    row.guid = known ? nic->second.guid : static_cast<uint64_t>(sample.nic);
    row.metric = metric == names.metrics.end() ? load.strings->unknown() : metric->second;
  };
  NetworkSamplesTable& samples = load.store->network_samples;
  RETURN_IF_ERROR(LoadRows<NetworkMetric>(load, samples, kNicMetrics, adopt));
  names.nics.clear();  // a switch is its own id and has no name
  return LoadRows<NetworkMetric>(load, samples, kSwitchMetrics, adopt);
}

}  // namespace

Status LoadOsCalls(Load& load) {
  CallChains chains(load);
  RETURN_IF_ERROR(chains.LoadSamples());
  RETURN_IF_ERROR(chains.LoadCudaCalls());
  RETURN_IF_ERROR(LoadRows(load, load.store->profiler_overheads, kProfilerOverhead, KeepRow()));
  if (load.database->Find(OwnTableName("os_calls")) != nullptr) return {};  // it has them whole
  ASSIGN_OR_RETURN(const ChainStacks stacks, chains.LoadOfOsCalls());
  const auto adopt = [&](OsCallsRow& row, const CallChain& chain) {
    const auto found = stacks.find(chain.id);
    if (chain.id != 0 && found != stacks.end()) row.native_stack = found->second;
  };
  RETURN_IF_ERROR(LoadRows<CallChain>(load, load.store->os_calls, kOsRuntime, adopt));
  return LoadRows(load, load.store->os_calls, kSystemCalls, KeepRow());
}

Status LoadOtherRuntimes(Load& load) {
  RETURN_IF_ERROR(LoadLibrary(load, kCudnn, RuntimeFamily::kCudnn, "cuDNN call"));
  RETURN_IF_ERROR(LoadLibrary(load, kCublas, RuntimeFamily::kCublas, "cuBLAS call"));
  for (const RuntimeSource& source : kRuntimeSources) RETURN_IF_ERROR(LoadRuntime(load, source));
  RETURN_IF_ERROR(LoadMpi(load));
  return LoadNetwork(load);
}

}  // namespace batchlight::nsys
