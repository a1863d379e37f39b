#include "timeline/tracks/store_events.h"

#include <algorithm>
#include <utility>

#include "analysis/cuda/cuda_call.h"
#include "analysis/cuda/gpu_event_names.h"

namespace batchlight::timeline {
namespace {

// cudaLaunchKernel_v7000 is shown as cudaLaunchKernel: by row of the strings.
const StringId* PlainNames(Timeline& timeline) {
  const Store& store = timeline.store();
  if (store.api_calls.size() == 0) return nullptr;
  std::vector<StringId>& names = timeline.NewNames();
  names.resize(store.strings.size());
  for (const StringId name : store.api_calls.name) {
    if (name.IsNone() || !names[name.row()].IsNone()) continue;
    names[name.row()] = timeline.names().Add(PlainApiName(store.Text(name)));
  }
  return names.data();
}

// The name of each row, worked out from its columns.
template <typename Table, typename NameOf>
const StringId* NamesOf(Timeline& timeline, const Table& table, NameOf&& name_of) {
  std::vector<StringId>& names = timeline.NewNames();
  names.reserve(table.size());
  for (size_t row = 0; row < table.size(); ++row) {
    names.push_back(timeline.names().Add(name_of(table, row)));
  }
  return names.data();
}

// The whole names: PyTorch's generic kernels differ in nothing but their template arguments.
const StringId* StreamNames(Timeline& timeline, const KernelsTable& table) {
  std::vector<StringId>& names = timeline.NewNames();
  names = table.demangled_name;
  for (size_t row = 0; row < names.size(); ++row) {
    if (names[row].IsNone()) names[row] = table.short_name[row];
    if (!names[row].IsNone()) timeline.names().MarkKernel(names[row]);
  }
  return names.data();
}
const StringId* StreamNames(Timeline& timeline, const MemcpysTable& table) {
  return NamesOf(timeline, table, [](const MemcpysTable& t, size_t row) {
    return MemcpyName(t.copy_kind[row], t.source_kind[row], t.destination_kind[row]);
  });
}
const StringId* StreamNames(Timeline& timeline, const MemsetsTable& table) {
  return NamesOf(timeline, table,
                 [](const MemsetsTable& t, size_t row) { return MemsetName(t.memory_kind[row]); });
}
const StringId* StreamNames(Timeline& timeline, const GraphLaunchesTable& table) {
  return NamesOf(timeline, table, [](const GraphLaunchesTable& t, size_t row) {
    return "CUDA graph " + std::to_string(t.graph[row]);
  });
}
const StringId* ProcessNames(Timeline& timeline, const SynchronizationsTable& table) {
  return NamesOf(timeline, table, [](const SynchronizationsTable& t, size_t row) {
    return std::string(ShortName(t.sync_type[row]));
  });
}
const StringId* ProcessNames(Timeline& timeline, const GpuOverheadsTable& table) {
  return NamesOf(timeline, table, [](const GpuOverheadsTable& t, size_t row) {
    return std::string(Label(t.overhead_type[row]));
  });
}
const StringId* ProcessNames(Timeline& timeline, const CudaJitsTable& table) {
  return NamesOf(timeline, table, [](const CudaJitsTable& t, size_t row) {
    return "JIT " + std::string(Label(t.operation[row]));
  });
}
const StringId* ProcessNames(Timeline& timeline, const UmGpuFaultsTable& table) {
  return NamesOf(timeline, table, [](const UmGpuFaultsTable& t, size_t row) {
    return "GPU page fault, " + LabelInSentence(t.access_type[row]);
  });
}

// Rows are ordered by thread.
std::vector<uint32_t> BeginsOfThreads(const std::vector<ThreadId>& thread) {
  std::vector<uint32_t> begins;
  for (auto at = thread.begin(); at != thread.end(); at = std::upper_bound(at, thread.end(), *at)) {
    begins.push_back(static_cast<uint32_t>(at - thread.begin()));
  }
  return begins;
}

template <typename Table>
EventTable TableFor(const Table& table, std::string_view title, const StringId* names) {
  EventTable events{.key = Table::kName,
                    .title = title,
                    .start_ns = table.start_ns.data(),
                    .name = names,
                    .rows = static_cast<uint32_t>(table.size())};
  if constexpr (requires { table.end_ns; }) events.end_ns = table.end_ns.data();
  return events;
}

}  // namespace

void AddStoreEvents(Timeline& timeline) {
  const Store& store = timeline.store();
  const StringId* plain = PlainNames(timeline);
  const auto add = [&](EventTable table) {
    if (table.key == ApiCallsTable::kName) table.name_of = plain;
    timeline.events().Add(std::move(table));
  };
  const auto add_calls = [&](EventTable table, const std::vector<ThreadId>& thread) {
    table.threads = BeginsOfThreads(thread);
    add(std::move(table));
  };
#define THREAD_TABLE(member, title, name) \
  add_calls(TableFor(store.member, title, store.member.name.data()), store.member.thread);
#define INSTANT_TABLE(member, title, name) THREAD_TABLE(member, title, name)
#define STREAM_TABLE(member, title) \
  add(TableFor(store.member, title, StreamNames(timeline, store.member)));
#define PROCESS_TABLE(member, title) \
  add(TableFor(store.member, title, ProcessNames(timeline, store.member)));
#include "timeline/tracks/event_tables.def"
}

}  // namespace batchlight::timeline
