#include "ingest/recording/place_cpu.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "ingest/recording/concatenate.h"
#include "ingest/recording/threads_by_tid.h"
#include "store/row_order.h"

namespace batchlight {
namespace {

constexpr uint32_t kEnded = 3;  // CpuThread::what

// What the kernel told of a process without rows.
struct UnknownProcess {
  int64_t start_ns = INT64_MAX;
  int64_t last_ns = 0;
  int64_t end_ns = kOpenEnd;
  uint32_t parent_pid = 0;
  StringId name;
};

class ProcessRows {
 public:
  explicit ProcessRows(const Store& store) : processes_(store.processes) {
    for (size_t row = 0; row < processes_.size(); ++row) {
      rows_[processes_.pid[row]].push_back(ProcessId::At(row));
    }
  }

  bool Has(uint32_t pid) const { return rows_.contains(pid); }

  // The image that ran at that time. Before the first: it, since libraries are loaded after exec.
  ProcessId Find(uint32_t pid, int64_t at_ns) const {
    const auto found = rows_.find(pid);
    if (found == rows_.end()) return ProcessId::None();
    ProcessId process = found->second.front();
    for (const ProcessId later : found->second) {
      if (processes_.start_ns[later.row()] <= at_ns) process = later;
    }
    return process;
  }

 private:
  const ProcessesTable& processes_;
  std::map<uint32_t, std::vector<ProcessId>> rows_;  // by start
};

using UnknownProcesses = std::map<uint32_t, UnknownProcess>;

void See(uint32_t pid, int64_t at_ns, const ProcessRows& known, UnknownProcesses& unknown) {
  if (pid == 0 || known.Has(pid)) return;
  UnknownProcess& process = unknown[pid];
  process.start_ns = std::min(process.start_ns, at_ns);
  process.last_ns = std::max(process.last_ns, at_ns);
}

void SeeFacts(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
              const ProcessRows& known, UnknownProcesses& unknown) {
  for (size_t i = 0; i < fragments.size(); ++i) {
    for (const CpuThreadFact& fact : fragments[i].cpu_threads) {
      const auto found = unknown.find(fact.thread.pid);
      if (found == unknown.end()) continue;
      UnknownProcess& process = found->second;
      process.start_ns = std::min(process.start_ns, fact.at_ns);
      if (fact.thread.tid != fact.thread.pid) continue;
      if (fact.what == kEnded) process.end_ns = fact.at_ns;
      if (fact.parent_pid != 0) process.parent_pid = fact.parent_pid;
      if (!fact.name.IsNone()) process.name = maps[i].String(fact.name);
    }
  }
  for (auto& [pid, process] : unknown) {
    if (process.end_ns < process.last_ns) process.end_ns = kOpenEnd;
    if (known.Has(process.parent_pid)) continue;
    if (!unknown.contains(process.parent_pid)) process.parent_pid = 0;
  }
}

// Processes come by start.
void OrderProcesses(Store& store) {
  const ProcessesTable& processes = store.processes;
  std::vector<uint32_t> order(processes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return processes.start_ns[a] < processes.start_ns[b];
  });
  ReorderRows(store, store.processes, order);
}

void AddProcesses(const UnknownProcesses& unknown, Store& store) {
  for (const auto& [pid, process] : unknown) {
    store.processes.Append({.pid = pid,
                            .parent_pid = process.parent_pid,
                            .name = process.name,
                            .start_ns = process.start_ns,
                            .end_ns = process.end_ns,
                            .exit_code = -1,
                            .exit_signal = -1,
                            .rank = -1});
  }
  const ProcessRows rows(store);
  for (size_t row = store.processes.size() - unknown.size(); row < store.processes.size(); ++row) {
    const ProcessId parent =
        rows.Find(store.processes.parent_pid[row], store.processes.start_ns[row]);
    if (parent.IsNone() || parent.row() == row) continue;
    store.processes.parent[row] = parent;
  }
  OrderProcesses(store);
}

// Only what was captured: the tool reads in pieces that know nothing of when a capture began.
template <typename Table, typename Owner>
void DropOutsideCaptures(const CaptureWindowsTable& windows, Table& table,
                         std::vector<Owner>& owners) {
  if (windows.size() == 0) return;
  std::vector<uint32_t> kept;
  std::vector<Owner> kept_owners;
  for (size_t row = 0; row < table.size(); ++row) {
    const int64_t at_ns = table.start_ns[row];
    for (size_t window = 0; window < windows.size(); ++window) {
      if (at_ns < windows.start_ns[window] || at_ns > windows.end_ns[window]) continue;
      kept.push_back(static_cast<uint32_t>(row));
      kept_owners.push_back(owners[row]);
      break;
    }
  }
  if (kept.size() == table.size()) return;
  table.Reorder(kept);
  owners = std::move(kept_owners);
}

template <typename Table, typename Owner>
void AddUses(const Table& table, const std::vector<Owner>& owners, const ProcessRows& rows,
             std::vector<TidUse>& uses) {
  for (size_t row = 0; row < table.size(); ++row) {
    const int64_t at_ns = table.start_ns[row];
    uses.push_back({rows.Find(owners[row].pid, at_ns), owners[row].tid, at_ns});
  }
}

// The system's names of threads that nothing else named.
void NameThreads(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
                 Store& store) {
  std::map<std::pair<uint32_t, uint32_t>, StringId> names;
  for (size_t i = 0; i < fragments.size(); ++i) {
    for (const CpuThreadFact& fact : fragments[i].cpu_threads) {
      if (!fact.name.IsNone()) {
        names[{fact.thread.pid, fact.thread.tid}] = maps[i].String(fact.name);
      }
    }
  }
  for (size_t row = 0; row < store.threads.size(); ++row) {
    if (!store.threads.name[row].IsNone() || store.threads.process[row].IsNone()) continue;
    const uint32_t pid = store.processes.pid[store.threads.process[row].row()];
    const auto name = names.find({pid, store.threads.tid[row]});
    if (name != names.end()) store.threads.name[row] = name->second;
  }
}

}  // namespace

void PlaceCpu(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
              Store& store) {
  auto places = Concatenate(fragments, &Fragment::python_sample_owners);
  auto samples = Concatenate(fragments, &Fragment::sample_owners);
  auto switches = Concatenate(fragments, &Fragment::switch_owners);
  // What was used up was read at the edges of captures, a moment later: it stays.
  auto usage = Concatenate(fragments, &Fragment::usage_owners);
  auto network = Concatenate(fragments, &Fragment::network_owners);
  DropOutsideCaptures(store.capture_windows, store.python_samples, places);
  DropOutsideCaptures(store.capture_windows, store.cpu_samples, samples);
  DropOutsideCaptures(store.capture_windows, store.cpu_switches, switches);
  if (places.empty() && samples.empty() && switches.empty() && usage.empty()) return;

  UnknownProcesses unknown;
  const auto see = [&](const auto& table, const auto& owners, const ProcessRows& known) {
    for (size_t row = 0; row < table.size(); ++row) {
      See(owners[row].pid, table.start_ns[row], known, unknown);
    }
  };
  {
    const ProcessRows known(store);
    see(store.python_samples, places, known);
    see(store.cpu_samples, samples, known);
    see(store.cpu_switches, switches, known);
    see(store.process_usage, usage, known);
    SeeFacts(fragments, maps, known, unknown);
  }
  if (!unknown.empty()) AddProcesses(unknown, store);

  const ProcessRows rows(store);
  std::vector<TidUse> uses;
  uses.reserve(places.size() + samples.size() + switches.size() + usage.size());
  AddUses(store.python_samples, places, rows, uses);
  AddUses(store.cpu_samples, samples, rows, uses);
  AddUses(store.cpu_switches, switches, rows, uses);
  AddUses(store.process_usage, usage, rows, uses);  // every process has a thread
  const ThreadsByTid threads(uses, store);
  auto use = uses.begin();
  for (size_t row = 0; row < store.python_samples.size(); ++row, ++use) {
    store.python_samples.thread[row] = threads.Find(*use);
    store.python_samples.gil_holder[row] =
        threads.Find({use->process, places[row].gil_holder, use->at_ns});
  }
  for (ThreadId& thread : store.cpu_samples.thread) thread = threads.Find(*use++);
  for (ThreadId& thread : store.cpu_switches.thread) thread = threads.Find(*use++);
  for (ProcessId& process : store.process_usage.process) process = (use++)->process;
  for (size_t row = 0; row < store.network_usage.size(); ++row) {
    store.network_usage.process[row] =
        rows.Find(network[row].pid, store.network_usage.start_ns[row]);
  }
  NameThreads(fragments, maps, store);
}

}  // namespace batchlight
