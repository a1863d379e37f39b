#include "analysis/run/program_processes.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <string_view>

namespace batchlight {
namespace {

bool HasRow(const std::vector<ProcessInfo>& all, int32_t row) {
  return row >= 0 && static_cast<size_t>(row) < all.size();
}

std::string_view FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The process that started it was still there and ended by itself later.
bool EndedByItsParent(const std::vector<ProcessInfo>& all, const ProcessInfo& process) {
  if (process.exit_signal != SIGTERM || !HasRow(all, process.parent)) return false;
  const ProcessInfo& parent = all[static_cast<size_t>(process.parent)];
  return parent.exit_signal <= 0 && process.end_ns <= parent.end_ns;
}

size_t FindMain(const std::vector<ProcessInfo>& all, const StepSet& steps) {
  if (all.empty()) return ProgramProcesses::kNone;
  if (const ProcessSteps* training = steps.Main()) return training->process.row();
  const auto most = std::max_element(
      all.begin(), all.end(),
      [](const ProcessInfo& a, const ProcessInfo& b) { return a.events < b.events; });
  size_t first = 0;  // process, as what it became in the end
  for (size_t row = 1; row < all.size(); ++row) {
    if (all[row].pid == all[first].pid && all[first].replaced) first = row;
  }
  // Workers of the same script may have done more than the script itself; what another program such
  // as torchrun started is what counts.
  const bool of_first = all[first].events > 0 || most->events == 0 || most->name == all[first].name;
  return of_first ? first : static_cast<size_t>(most - all.begin());
}

}  // namespace

bool EndIsKnown(const ProcessInfo& process) {
  return process.exit_code >= 0 || process.exit_signal > 0 || process.vanished || process.replaced;
}

ProgramProcesses FindProgramProcesses(const SessionInfo& session, const StepSet& steps) {
  const std::vector<ProcessInfo>& all = session.processes;
  ProgramProcesses found{.main = FindMain(all, steps),
                         .launcher = std::vector<bool>(all.size()),
                         .failed = std::vector<bool>(all.size())};
  std::set<uint32_t> pids;
  for (size_t row = 0; row < all.size(); ++row) {  // by start: parents come first
    const ProcessInfo& process = all[row];
    const bool of_launcher =
        HasRow(all, process.parent) && found.launcher[static_cast<size_t>(process.parent)];
    found.launcher[row] =
        row != found.main && process.events == 0 && (process.replaced || of_launcher);
    if (found.launcher[row]) continue;
    pids.insert(process.pid);
    found.failed[row] =
        (process.exit_code > 0 || process.exit_signal > 0) && !EndedByItsParent(all, process);
  }
  found.count = pids.size();
  return found;
}

std::string ProgramName(const SessionInfo& session) {
  std::string_view rest = session.command;
  while (!rest.empty()) {
    const size_t space = rest.find(' ');
    const std::string_view word = rest.substr(0, space);
    if (word.ends_with(".py")) return std::string(FileName(word));
    if (space == std::string_view::npos) break;
    rest.remove_prefix(space + 1);
  }
  const size_t main = FindProgramProcesses(session).main;
  if (main != ProgramProcesses::kNone && !session.processes[main].name.empty()) {
    return session.processes[main].name;
  }
  const std::string_view command = session.command;
  const std::string_view program = FileName(command.substr(0, command.find(' ')));
  return std::string(program.empty() ? FileName(session.source) : program);
}

}  // namespace batchlight
