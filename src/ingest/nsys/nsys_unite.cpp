#include "ingest/nsys/nsys_unite.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/thread_pool.h"
#include "nsys/own_tables.h"
#include "store/flat_map.h"

namespace batchlight::nsys {
namespace {

struct Lifetime {
  int64_t start = kOpenEnd;
  int64_t end = INT64_MIN;
};

// First and last event of each thread number of `load`, from every table that has both.
template <typename Table>
void Extend(const Table& table, std::vector<Lifetime>& lives) {
  if constexpr (requires {
                  table.thread;
                  table.end_ns;
                }) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.thread[row].IsNone()) continue;
      Lifetime& life = lives[table.thread[row].row()];
      life.start = std::min(life.start, table.start_ns[row]);
      life.end = std::max(life.end,
                          table.end_ns[row] == kOpenEnd ? table.start_ns[row] : table.end_ns[row]);
    }
  }
}

// Rows in the order of `before`, or an empty list when they already are.
template <typename Before>
std::vector<uint32_t> OrderOf(size_t size, const Before& before) {
  bool sorted = true;
  for (size_t row = 1; row < size && sorted; ++row) sorted = !before(row, row - 1);
  if (sorted) return {};
  std::vector<uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

// Rows by thread, each thread's in the order in which they are. Threads are few: a pass to count
// and a pass to place.
std::vector<uint32_t> GroupByThread(const std::vector<ThreadId>& thread, size_t thread_count) {
  const auto group = [&](size_t row) {
    return thread[row].IsNone() ? thread_count : thread[row].row();
  };
  std::vector<uint32_t> next(thread_count + 2);
  for (size_t row = 0; row < thread.size(); ++row) ++next[group(row) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<uint32_t> order(thread.size());
  for (size_t row = 0; row < thread.size(); ++row) {
    order[next[group(row)]++] = static_cast<uint32_t>(row);
  }
  return order;
}

// The order of schema.def; empty when the rows have it. nsys writes rows by start or nearly so:
// grouped by thread, few stand in the wrong place.
template <typename Table>
std::vector<uint32_t> ThreadOrder(const Table& table, size_t thread_count) {
  const auto before = [&](size_t a, size_t b) {
    if (table.thread[a] != table.thread[b]) return table.thread[a] < table.thread[b];
    if (table.start_ns[a] != table.start_ns[b]) return table.start_ns[a] < table.start_ns[b];
    if constexpr (requires { table.end_ns; }) return table.end_ns[a] > table.end_ns[b];
    return false;
  };
  bool sorted = true;
  for (size_t row = 1; row < table.size() && sorted; ++row) sorted = !before(row, row - 1);
  if (sorted) return {};
  std::vector<uint32_t> order = GroupByThread(table.thread, thread_count);
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::stable_sort(order.begin(), order.end(), before);
  }
  return order;
}

template <typename Table>
void SortByThread(Table& table, size_t thread_count) {
  const auto order = ThreadOrder(table, thread_count);
  if (!order.empty()) table.Reorder(order);
}

// Calls that point at the calls around them. Only exports of ours have them, in order unless the
// file was changed; what then is no parent any more is left out.
template <typename Table>
void SortNested(Table& table, size_t thread_count) {
  const auto order = ThreadOrder(table, thread_count);
  if (!order.empty()) {
    std::vector<uint32_t> new_row(order.size());
    for (size_t i = 0; i < order.size(); ++i) new_row[order[i]] = static_cast<uint32_t>(i);
    table.Reorder(order);
    for (auto& parent : table.parent) {
      if (!parent.IsNone()) parent.value = new_row[parent.row()];
    }
  }
  for (size_t row = 0; row < table.size(); ++row) {
    auto& parent = table.parent[row];
    if (parent.IsNone()) continue;
    const size_t above = parent.row();
    const bool encloses = above < row && table.thread[above] == table.thread[row] &&
                          table.depth[above] < table.depth[row];
    if (!encloses) parent = {};
  }
}

template <typename Table>
void SortByStart(Table& table) {
  const auto order = OrderOf(
      table.size(), [&](size_t a, size_t b) { return table.start_ns[a] < table.start_ns[b]; });
  if (!order.empty()) table.Reorder(order);
}

// Sorts the copies and keeps um_transfers pointing at them.
void SortCopies(Store& store) {
  const auto order = OrderOf(store.memcpys.size(), [&](size_t a, size_t b) {
    return store.memcpys.start_ns[a] < store.memcpys.start_ns[b];
  });
  if (order.empty()) return;
  store.memcpys.Reorder(order);
  std::vector<uint32_t> new_row(order.size());
  for (size_t row = 0; row < order.size(); ++row) new_row[order[row]] = static_cast<uint32_t>(row);
  for (uint32_t& row : store.um_transfers.memcpy_row) row = new_row[row];
  const auto um_order = OrderOf(store.um_transfers.size(), [&](size_t a, size_t b) {
    return store.um_transfers.memcpy_row[a] < store.um_transfers.memcpy_row[b];
  });
  if (!um_order.empty()) store.um_transfers.Reorder(um_order);
}

// Correlation ids are unique per process only.
class CallFinder {
 public:
  explicit CallFinder(const Store& store) {
    rows_.Reserve(store.api_calls.size());
    for (size_t row = 0; row < store.api_calls.size(); ++row) {
      const ProcessId process = store.ProcessOf(store.api_calls.thread[row]);
      rows_.FindOrAdd(Key(process, store.api_calls.correlation[row]), static_cast<uint32_t>(row));
    }
  }

  template <typename Table>
  ApiCallId CallOf(const Table& table, size_t row) const {
    return ApiCallId{rows_.Find(Key(table.process[row], table.correlation[row]))};
  }
  template <typename Table>
  void Link(Table& table) const {
    for (size_t row = 0; row < table.size(); ++row) table.api_call[row] = CallOf(table, row);
  }

 private:
  static uint64_t Key(ProcessId process, uint32_t correlation) {
    return uint64_t{process.value} << 32 | correlation;
  }
  FlatMap rows_;  // kAbsent is the value of ApiCallId::None()
};

// Events of which the file tells no time: when the call was made.
void DateEvents(const CallFinder& calls, Store& store) {
  CudaEventsTable& events = store.cuda_events;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.start_ns[row] != kOpenEnd) continue;
    const ApiCallId call = calls.CallOf(events, row);
    events.start_ns[row] = call.IsNone() ? 0 : store.api_calls.start_ns[call.row()];
  }
  SortByStart(events);
}

void NestRanges(NvtxRangesTable& ranges) {
  struct Open {
    NvtxDomainId domain;
    NvtxRangeId range;
    int64_t end;
    uint16_t depth;
  };
  std::vector<Open> open;
  ThreadId thread;
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (ranges.style[row] != NvtxStyle::kPushPop) continue;
    if (row == 0 || ranges.thread[row] != thread) open.clear();
    thread = ranges.thread[row];
    std::erase_if(open, [&](const Open& o) { return o.end <= ranges.start_ns[row]; });
    const Open* parent = nullptr;
    for (const Open& o : open) {
      if (o.domain == ranges.domain[row] && o.end >= ranges.end_ns[row]) parent = &o;
    }
    ranges.parent[row] = parent == nullptr ? NvtxRangeId::None() : parent->range;
    ranges.depth[row] = parent == nullptr ? 0 : static_cast<uint16_t>(parent->depth + 1);
    open.push_back(
        {ranges.domain[row], NvtxRangeId::At(row), ranges.end_ns[row], ranges.depth[row]});
  }
}

struct Names {
  std::unordered_map<int64_t, StringId> processes;
  struct Thread {
    StringId name;
    int32_t priority = 0;
  };
  std::unordered_map<int64_t, Thread> threads;
};

Result<Names> ReadNames(const NsysDatabase& database, Load& load, Store& store) {
  Names names;
  ASSIGN_OR_RETURN(NsysTable processes,
                   NsysTable::Open(database, "PROCESSES", {"globalPid", "name"}));
  while (processes.Next()) {
    names.processes[processes.Int(0) & kProcessMask] = store.strings.Intern(processes.Text(1));
  }
  RETURN_IF_ERROR(processes.status());
  ASSIGN_OR_RETURN(NsysTable threads,
                   NsysTable::Open(database, "ThreadNames", {"globalTid", "nameId", "priority"}));
  while (threads.Next()) {
    names.threads[threads.Int(0)] = {load.String(threads, 1), static_cast<int32_t>(threads.Int(2))};
  }
  RETURN_IF_ERROR(threads.status());
  load.NoteFaults(threads);
  return names;
}

std::map<int64_t, Lifetime> ThreadLives(std::span<Load> loads, const Store& store) {
  std::map<int64_t, Lifetime> lives;
  for (Load& load : loads) {
    std::vector<Lifetime> local(load.threads.all().size());
    store.VisitTables([&](const auto& table) {
      if constexpr (requires { table.thread; }) {
        for (const auto* column : load.thread_columns) {
          if (column == &table.thread) Extend(table, local);
        }
      }
    });
    for (size_t i = 0; i < local.size(); ++i) {
      Lifetime& life = lives[load.threads.all()[i]];
      life.start = std::min(life.start, local[i].start);
      life.end = std::max(life.end, local[i].end);
    }
  }
  return lives;
}

// An export of ours says when threads started, also those without events: the order of threads, and
// with it of all rows, is then that of the recording.
Status ReadOwnLives(const NsysDatabase& database, std::map<int64_t, Lifetime>& lives) {
  ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(database, OwnTableName("threads"),
                                                   {"process", "tid", "start_ns", "end_ns"}));
  while (rows.Next()) {
    if (rows.IsNull(0)) continue;
    const int64_t global = (rows.Int(0) & kProcessMask) | (rows.Int(1) & ~kProcessMask);
    lives[global] = {PossibleTimeOr(rows.Int(2), 0),
                     PossibleTimeOr(rows.Int(3, kOpenEnd), kOpenEnd)};
  }
  return rows.status();
}

}  // namespace

Status UniteThreads(const NsysDatabase& database, std::span<Load> loads, Store& store) {
  ASSIGN_OR_RETURN(const Names names, ReadNames(database, loads.back(), store));
  std::map<int64_t, Lifetime> lives = ThreadLives(loads, store);
  RETURN_IF_ERROR(ReadOwnLives(database, lives));

  std::map<int64_t, Lifetime> process_lives;
  for (const auto& [global, life] : lives) {
    Lifetime& process = process_lives[global & kProcessMask];
    process.start = std::min(process.start, life.start);
    process.end = std::max(process.end, life.end);
  }
  for (Load& load : loads) {
    for (const int64_t global : load.processes.all()) process_lives.try_emplace(global);
  }
  std::vector<std::pair<int64_t, Lifetime>> processes(process_lives.begin(), process_lives.end());
  std::stable_sort(processes.begin(), processes.end(),
                   [](const auto& a, const auto& b) { return a.second.start < b.second.start; });
  std::unordered_map<int64_t, ProcessId> process_rows;
  for (const auto& [global, life] : processes) {
    const auto name = names.processes.find(global);
    process_rows[global] = ProcessId::At(store.processes.size());
    store.processes.Append({.pid = PidOf(global),
                            .name = name == names.processes.end() ? StringId::None() : name->second,
                            .start_ns = life.start == kOpenEnd ? 0 : life.start,
                            .end_ns = kOpenEnd,
                            .exit_code = -1,
                            .exit_signal = -1,
                            .rank = -1,
                            .native_global_id = static_cast<uint64_t>(global)});
  }

  std::vector<std::pair<int64_t, Lifetime>> threads(lives.begin(), lives.end());
  std::stable_sort(threads.begin(), threads.end(), [&](const auto& a, const auto& b) {
    const ProcessId first = process_rows[a.first & kProcessMask];
    const ProcessId second = process_rows[b.first & kProcessMask];
    return first != second ? first < second : a.second.start < b.second.start;
  });
  std::unordered_map<int64_t, ThreadId> thread_rows;
  for (const auto& [global, life] : threads) {
    const auto name = names.threads.find(global);
    const bool named = name != names.threads.end();
    thread_rows[global] = ThreadId::At(store.threads.size());
    store.threads.Append({.process = process_rows[global & kProcessMask],
                          .tid = TidOf(global),
                          .name = named ? name->second.name : StringId::None(),
                          .start_ns = life.start == kOpenEnd ? 0 : life.start,
                          .end_ns = life.end == INT64_MIN ? kOpenEnd : life.end,
                          .priority = named ? name->second.priority : 0});
  }

  const ProcessId only = store.processes.size() == 1 ? ProcessId::At(0) : ProcessId::None();
  for (Load& load : loads) {
    for (auto* column : load.thread_columns) {
      for (ThreadId& thread : *column) {
        if (!thread.IsNone()) thread = thread_rows[load.threads.all()[thread.row()]];
      }
    }
    for (auto* column : load.process_columns) {
      for (ProcessId& process : *column) {
        process = process.IsNone() ? only : process_rows[load.processes.all()[process.row()]];
      }
    }
  }
  return Status();
}

void OrderAndLink(Store& store) {
  const std::function<void()> sorts[] = {
      [&] {
        SortByThread(store.nvtx_ranges, store.threads.size());
        NestRanges(store.nvtx_ranges);
      },
      [&] { SortByThread(store.api_calls, store.threads.size()); },
      [&] { SortByStart(store.kernels); },
      [&] { SortNested(store.module_calls, store.threads.size()); },
      [&] { SortNested(store.phase_calls, store.threads.size()); },
      [&] { SortNested(store.operator_calls, store.threads.size()); },
      [&] { SortByThread(store.os_calls, store.threads.size()); },
      [&] { SortCopies(store); },
      [&] { SortByStart(store.memsets); },
      [&] { SortByStart(store.synchronizations); },
      [&] { SortByStart(store.graph_launches); },
      [&] { SortByStart(store.gpu_memory_events); },
      [&] { SortByStart(store.um_cpu_faults); },
      [&] { SortByStart(store.um_gpu_faults); },
      [&] { SortByStart(store.network_samples); },
      [&] { SortByThread(store.nvtx_marks, store.threads.size()); },
      [&] { SortByThread(store.runtime_events, store.threads.size()); },
      [&] { SortByThread(store.mpi_events, store.threads.size()); },
      [&] { SortByThread(store.graph_nodes, store.threads.size()); },
      [&] { SortByThread(store.gpu_overheads, store.threads.size()); },
      [&] { SortByThread(store.profiler_overheads, store.threads.size()); },
  };
  ParallelFor(std::size(sorts), [&](size_t i) { sorts[i](); });
  const CallFinder calls(store);
  calls.Link(store.kernels);
  calls.Link(store.memcpys);
  calls.Link(store.memsets);
  calls.Link(store.synchronizations);
  calls.Link(store.graph_launches);
  DateEvents(calls, store);
}

}  // namespace batchlight::nsys
