#include "ingest/recording/apply_facts.h"

#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "format/forbidden_call.h"
#include "format/secrets.h"
#include "ingest/recording/apply_ranks.h"

namespace batchlight {
namespace {

constexpr uint32_t kHowExec = 2;

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The script of a Python command line (arguments joined by NUL), or the module after -m.
std::string_view PythonScript(std::string_view command_line) {
  size_t end = command_line.find('\0');
  while (end != std::string_view::npos) {
    command_line.remove_prefix(end + 1);
    end = command_line.find('\0');
    const std::string_view argument = command_line.substr(0, end);
    if (argument == "-m") {
      if (end == std::string_view::npos) return {};
      return command_line.substr(end + 1, command_line.find('\0', end + 1) - end - 1);
    }
    if (argument == "-c") return {};
    const bool takes_value = argument == "-X" || argument == "-W";
    if (takes_value && end != std::string_view::npos) {
      command_line.remove_prefix(end + 1);
      end = command_line.find('\0');
    } else if (!argument.starts_with('-')) {
      return BaseName(argument);
    }
  }
  return {};
}

std::string_view ProcessName(std::string_view executable, std::string_view command_line) {
  const std::string_view name = BaseName(executable);
  if (!name.starts_with("python")) return name;
  const std::string_view script = PythonScript(command_line);
  return script.empty() ? name : script;
}

// True for each image that replaced an earlier image of the same process by exec.
std::vector<bool> FollowsExec(const ProcessesTable& table, std::span<const Fragment> fragments) {
  std::map<uint32_t, ProcessId> last;  // by pid
  std::set<ProcessId> gave_way;
  for (const Fragment& fragment : fragments) {
    for (const ProcessExitFact& fact : fragment.process_exits) {
      if (fact.how == kHowExec) gave_way.insert(fact.process);
    }
  }
  std::vector<bool> follows(table.size());
  for (size_t row = 0; row < table.size(); ++row) {
    const auto [place, added] = last.try_emplace(table.pid[row]);
    follows[row] = !added && gave_way.contains(place->second);
    place->second = ProcessId::At(row);
  }
  return follows;
}

void ApplyStarts(const Fragment& fragment, const FragmentMap& map,
                 const std::vector<bool>& follows_exec, Store& store) {
  ProcessesTable& table = store.processes;
  for (const ProcessStartFact& fact : fragment.process_starts) {
    if (fact.process.IsNone()) continue;
    const size_t row = fact.process.row();
    const StringId command_line = map.String(fact.command_line);
    table.parent_pid[row] = fact.parent_pid;
    table.executable[row] = map.String(fact.executable);
    std::string text(store.Text(command_line));
    table.name[row] =
        store.strings.Intern(std::string(ProcessName(store.Text(table.executable[row]), text)));
    while (text.ends_with('\0')) text.pop_back();
    text = format::WithoutSecrets(std::move(text), '\0');  // older recordings hold them
    std::replace(text.begin(), text.end(), '\0', ' ');
    table.command_line[row] = store.strings.Intern(text);
    // After exec the system still reports the start of the first image, so the later time is the
    // attach.
    if (!follows_exec[row] && fact.start_ns <= table.start_ns[row]) {
      table.start_ns[row] = fact.start_ns;
    }
  }
}

void ApplyExits(const Fragment& fragment, Store& store) {
  ProcessesTable& table = store.processes;
  for (const ProcessExitFact& fact : fragment.process_exits) {
    if (fact.process.IsNone()) continue;
    const size_t row = fact.process.row();
    table.end_ns[row] = fact.end_ns;
    if (fact.how == kHowExec) continue;  // the process went on as another image
    table.exit_code[row] = fact.status;
    table.exit_signal[row] = 0;
  }
}

using RowsByAttach = std::map<std::pair<uint32_t, int64_t>, size_t>;

// The row that a status is about. A parent does not know the attach: it means the last process with
// that pid.
RowsByAttach::const_iterator FindEnded(const RowsByAttach& rows, const ProcessStatusFact& fact) {
  if (fact.attach_ns != 0) return rows.find({fact.pid, fact.attach_ns});
  const auto after = rows.upper_bound({fact.pid, fact.end_monotonic_ns});
  if (after == rows.begin() || std::prev(after)->first.first != fact.pid) return rows.end();
  return std::prev(after);
}

// Of the first child that was killed before it had a file, which alone the tool would see.
void SayForbidden(const ProcessStatusFact& fact, bool& said, Store& store) {
  const bool killed = fact.known && !WIFEXITED(fact.wait_status) &&
                      WTERMSIG(fact.wait_status) == format::kForbiddenCallSignal;
  if (!killed || std::exchange(said, true)) return;
  store.reasons.Append(
      {.feature = store.strings.Intern(format::kProcessesFeature),
       .text = store.strings.Intern(format::ForbiddenCallText(int64_t{fact.pid}))});
}

// What others saw of a process's end overrides what it said it was about to do.
void ApplyStatuses(std::span<const Fragment> fragments, std::span<const int64_t> attach_ns,
                   Store& store) {
  ProcessesTable& table = store.processes;
  RowsByAttach rows;
  for (size_t row = 0; row < table.size(); ++row) rows[{table.pid[row], attach_ns[row]}] = row;
  bool said_forbidden = false;
  for (const Fragment& fragment : fragments) {
    for (const ProcessStatusFact& fact : fragment.process_statuses) {
      const auto place = FindEnded(rows, fact);
      if (place == rows.end()) {
        SayForbidden(fact, said_forbidden, store);
        continue;
      }
      const size_t row = place->second;
      table.end_ns[row] = fact.end_ns;
      if (!fact.known) continue;
      const bool exited = WIFEXITED(fact.wait_status);
      table.exit_code[row] = exited ? WEXITSTATUS(fact.wait_status) : -1;
      table.exit_signal[row] = exited ? 0 : WTERMSIG(fact.wait_status);
    }
  }
}

// The image of the parent that ran when the child started.
void FindParents(std::span<const int64_t> attach_ns, Store& store) {
  ProcessesTable& table = store.processes;
  std::multimap<uint32_t, size_t> rows;  // of a pid, in the order of attach
  for (size_t row = 0; row < table.size(); ++row) rows.emplace(table.pid[row], row);
  for (size_t row = 0; row < table.size(); ++row) {
    const auto [begin, end] = rows.equal_range(table.parent_pid[row]);
    for (auto parent = begin; parent != end; ++parent) {
      if (parent->second == row || attach_ns[parent->second] > attach_ns[row]) continue;
      table.parent[row] = ProcessId::At(parent->second);
    }
  }
}

void ApplyThreads(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
                  Store& store) {
  ThreadsTable& table = store.threads;
  // NVTX names win, since the program chose them; then Python's, then the system's.
  constexpr int kPriority[] = {1, 3, 2};
  std::map<std::pair<ProcessId, uint32_t>, std::pair<int, StringId>> names;
  for (size_t i = 0; i < fragments.size(); ++i) {
    for (const ThreadSpan& span : fragments[i].spans) {
      if (span.thread.IsNone()) continue;
      int64_t& end_ns = table.end_ns[span.thread.row()];
      end_ns = std::max(end_ns, span.last_ns);
    }
    for (const ThreadNameFact& fact : fragments[i].thread_names) {
      const int priority = fact.source < std::size(kPriority) ? kPriority[fact.source] : 0;
      auto& best = names[{fact.process, fact.tid}];
      if (priority >= best.first) best = {priority, maps[i].String(fact.name)};
    }
  }
  for (size_t row = 0; row < table.size(); ++row) {
    const auto name = names.find({table.process[row], table.tid[row]});
    if (name != names.end()) table.name[row] = name->second.second;
  }
}

void ApplyLosses(std::span<const Fragment> fragments, Store& store) {
  std::map<std::pair<ProcessId, uint32_t>, uint64_t> totals;
  std::map<std::pair<ProcessId, uint32_t>, uint64_t> recorded;
  for (const Fragment& fragment : fragments) {
    for (const CounterFact& fact : fragment.counters) {  // running totals: the last one counts
      uint64_t& value = recorded[{fact.process, fact.counter}];
      value = std::max(value, fact.value);
    }
    for (const CounterFact& fact : fragment.counted) {
      totals[{fact.process, fact.counter}] += fact.value;
    }
  }
  for (size_t row = 0; row < store.losses.size(); ++row) {
    totals[{store.losses.process[row], store.losses.counter[row]}] += store.losses.value[row];
  }
  for (const auto& [key, value] : recorded) totals[key] += value;
  store.losses.Clear();
  for (const auto& [key, value] : totals) {
    if (value > 0) store.losses.Append({key.first, key.second, value});
  }
}

void ApplyCaptures(std::span<const Fragment> fragments, Store& store) {
  std::map<uint32_t, std::pair<int64_t, int64_t>> windows;
  for (const Fragment& fragment : fragments) {
    for (const CaptureFact& fact : fragment.captures) {
      auto& [start_ns, end_ns] =
          windows.try_emplace(fact.capture_index, kOpenEnd, kOpenEnd).first->second;
      int64_t& side = fact.on ? start_ns : end_ns;
      side = std::min(side, fact.at_ns);
    }
  }
  for (const auto& [index, window] : windows) {
    const int64_t start_ns = window.first == kOpenEnd ? 0 : window.first;
    store.capture_windows.Append({index, start_ns, std::max(start_ns, window.second)});
  }
}

void ApplyClock(std::span<const Fragment> fragments, int64_t zero_ns, Store& store) {
  for (const Fragment& fragment : fragments) {
    if (fragment.clock_syncs.empty()) continue;
    const ClockSyncFact& fact = fragment.clock_syncs.front();
    int64_t utc_ns = 0;
    if (__builtin_add_overflow(fact.realtime_ns, zero_ns, &utc_ns) ||
        __builtin_sub_overflow(utc_ns, fact.monotonic_ns, &utc_ns)) {
      continue;
    }
    store.session_start_utc_ns = utc_ns;
    return;
  }
}

int64_t FindDuration(std::span<const Fragment> fragments, const Store& store) {
  int64_t duration_ns = 0;
  const auto extend = [&](int64_t end_ns) {
    if (end_ns < kOpenEnd - 1) duration_ns = std::max(duration_ns, end_ns);
  };
  for (const Fragment& fragment : fragments) {
    for (const ThreadSpan& span : fragment.spans) extend(span.last_ns);
  }
  for (const int64_t end_ns : store.processes.end_ns) extend(end_ns);
  return duration_ns;
}

}  // namespace

void ApplyFacts(std::span<const Fragment> fragments, std::span<const FragmentMap> maps,
                const ChunkPlan& plan, Store& store) {
  const std::vector<bool> follows_exec = FollowsExec(store.processes, fragments);
  for (size_t i = 0; i < fragments.size(); ++i) {
    ApplyStarts(fragments[i], maps[i], follows_exec, store);
    ApplyExits(fragments[i], store);
  }
  ApplyStatuses(fragments, plan.attach_ns, store);
  FindParents(plan.attach_ns, store);
  ApplyThreads(fragments, maps, store);
  ApplyLosses(fragments, store);
  ApplyCaptures(fragments, store);
  ApplyClock(fragments, plan.zero_ns, store);
  ApplyRanks(store);
  store.duration_ns = FindDuration(fragments, store);
}

}  // namespace batchlight
