#include "timeline/tracks/reading_fit.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "timeline/tracks/join_timelines.h"

namespace batchlight::timeline {
namespace {

bool HasSameProcesses(const Store& older, const Store& newer) {
  const ProcessesTable &known = older.processes, &found = newer.processes;
  if (known.size() != found.size()) return false;
  for (size_t row = 0; row < found.size(); ++row) {
    const ProcessId same = SameProcess(older, newer, ProcessId::At(row));
    if (same.IsNone() || known.rank[same.row()] != found.rank[row] ||
        older.Text(known.name[same.row()]) != newer.Text(found.name[row])) {
      return false;
    }
  }
  return true;
}

bool HasFacts(const Store& older, const Store& newer) {
  std::set<std::tuple<ProcessId, std::string_view>> found;
  const PropertiesTable& facts = newer.properties;
  for (size_t row = 0; row < facts.size(); ++row) {
    found.emplace(SameProcess(older, newer, facts.process[row]), newer.Text(facts.key[row]));
  }
  const PropertiesTable& known = older.properties;
  for (size_t row = 0; row < known.size(); ++row) {
    if (!found.contains({known.process[row], older.Text(known.key[row])})) return false;
  }
  return true;
}

bool HasThreads(const Store& older, const Store& newer) {
  std::set<std::tuple<ProcessId, uint32_t, int64_t>> known;
  for (size_t row = 0; row < older.threads.size(); ++row) {
    known.emplace(older.threads.process[row], older.threads.tid[row], older.threads.start_ns[row]);
  }
  for (size_t row = 0; row < newer.threads.size(); ++row) {
    const ProcessId process = SameProcess(older, newer, newer.threads.process[row]);
    if (!known.contains({process, newer.threads.tid[row], newer.threads.start_ns[row]})) {
      return false;
    }
  }
  return true;
}

bool HasGroups(const Timeline& older, const Timeline& newer) {
  return std::all_of(newer.groups().begin(), newer.groups().end(), [&](const Group& group) {
    const ProcessId process = SameProcess(older.store(), newer.store(), group.process);
    return std::any_of(older.groups().begin(), older.groups().end(), [&](const Group& known) {
      return known.kind == group.kind && known.title == group.title && known.process == process;
    });
  });
}

}  // namespace

bool RiseByOne(const ProcessSteps& process) {
  for (size_t i = 1; i < process.steps.size(); ++i) {
    if (process.steps[i].number != process.steps[i - 1].number + 1) return false;
  }
  return true;
}

bool CanGoOn(const StepSet& older, const StepOptions& options) {
  const StepOptions all;
  return older.processes.size() == 1 && RiseByOne(older.processes[0]) &&
         options.first_step == all.first_step && options.last_step == all.last_step;
}

bool AreAlike(const Timeline& older, const Timeline& newer) {
  return HasSameProcesses(older.store(), newer.store()) &&
         HasThreads(older.store(), newer.store()) && HasFacts(older.store(), newer.store()) &&
         HasGroups(older, newer);
}

}  // namespace batchlight::timeline
