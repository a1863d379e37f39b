#include "ingest/nsys/nsys_unite.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

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

// A process lives from the first to the last event of its threads; in the order of their starts.
std::vector<std::pair<int64_t, Lifetime>> ProcessLives(const std::map<int64_t, Lifetime>& threads,
                                                       std::span<const Load> loads) {
  std::map<int64_t, Lifetime> lives;
  for (const auto& [global, life] : threads) {
    Lifetime& process = lives[global & kProcessMask];
    process.start = std::min(process.start, life.start);
    process.end = std::max(process.end, life.end);
  }
  for (const Load& load : loads) {
    for (const int64_t global : load.processes.all()) lives.try_emplace(global);
  }
  std::vector<std::pair<int64_t, Lifetime>> ordered(lives.begin(), lives.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.start < b.second.start; });
  return ordered;
}

using ProcessRows = std::unordered_map<int64_t, ProcessId>;
using ThreadRows = std::unordered_map<int64_t, ThreadId>;

ProcessRows AddProcesses(const std::vector<std::pair<int64_t, Lifetime>>& lives, const Names& names,
                         Store& store) {
  ProcessRows rows;
  for (const auto& [global, life] : lives) {
    const auto name = names.processes.find(global);
    rows[global] = ProcessId::At(store.processes.size());
    store.processes.Append({.pid = PidOf(global),
                            .name = name == names.processes.end() ? StringId::None() : name->second,
                            .start_ns = life.start == kOpenEnd ? 0 : life.start,
                            .end_ns = kOpenEnd,
                            .exit_code = -1,
                            .exit_signal = -1,
                            .rank = -1,
                            .native_global_id = static_cast<uint64_t>(global)});
  }
  return rows;
}

// By process and start.
ThreadRows AddThreads(const std::map<int64_t, Lifetime>& lives, const Names& names,
                      const ProcessRows& process_rows, Store& store) {
  const auto process_of = [&](int64_t global) { return process_rows.at(global & kProcessMask); };
  std::vector<std::pair<int64_t, Lifetime>> threads(lives.begin(), lives.end());
  std::stable_sort(threads.begin(), threads.end(), [&](const auto& a, const auto& b) {
    const ProcessId first = process_of(a.first);
    const ProcessId second = process_of(b.first);
    return first != second ? first < second : a.second.start < b.second.start;
  });
  ThreadRows rows;
  for (const auto& [global, life] : threads) {
    const auto name = names.threads.find(global);
    const bool named = name != names.threads.end();
    rows[global] = ThreadId::At(store.threads.size());
    store.threads.Append({.process = process_of(global),
                          .tid = TidOf(global),
                          .name = named ? name->second.name : StringId::None(),
                          .start_ns = life.start == kOpenEnd ? 0 : life.start,
                          .end_ns = life.end == INT64_MIN ? kOpenEnd : life.end,
                          .priority = named ? name->second.priority : 0});
  }
  return rows;
}

}  // namespace

Status UniteThreads(const NsysDatabase& database, std::span<Load> loads, Store& store) {
  ASSIGN_OR_RETURN(const Names names, ReadNames(database, loads.back(), store));
  std::map<int64_t, Lifetime> lives = ThreadLives(loads, store);
  ASSIGN_OR_RETURN(const std::vector<OwnThread> own,
                   ReadOwnThreads(database, *loads.back().strings, store));
  for (const OwnThread& thread : own) lives[thread.global] = {thread.start_ns, thread.end_ns};
  ProcessRows process_rows = AddProcesses(ProcessLives(lives, loads), names, store);
  ThreadRows thread_rows = AddThreads(lives, names, process_rows, store);

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

}  // namespace batchlight::nsys
