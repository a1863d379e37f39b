#include "report/page_steps.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "report/utf8.h"

namespace batchlight {
namespace {

using nlohmann::json;

constexpr size_t kLongestLabel = 200;  // characters

std::string ProcessLabel(const RunOverview& overview, const ProcessSteps& steps) {
  std::string label = steps.rank < 0 ? "" : "rank " + std::to_string(steps.rank) + ", ";
  for (const ProcessInfo& process : overview.session.processes) {
    if (process.process != steps.process) continue;
    label += CleanText(process.name) + " (pid " + std::to_string(process.pid) + ")";
  }
  return label;
}

// Names count up in most loops; where they start again (batch 0 of every epoch) the page counts
// itself, so that a number stands for one step.
bool NumbersAscend(const std::vector<Step>& steps) {
  const auto not_above = [](const Step& a, const Step& b) { return b.number <= a.number; };
  return std::adjacent_find(steps.begin(), steps.end(), not_above) == steps.end();
}

// The kind of a group: steady if any of its steps is.
StepKind KindOf(const std::vector<Step>& steps, size_t first, size_t last) {
  for (size_t i = first; i < last; ++i) {
    if (steps[i].kind == StepKind::kSteady) return StepKind::kSteady;
  }
  return steps[first].kind;
}

// Mean of value(step) over groups of `group` steps.
template <typename Value>
json GroupMeans(size_t count, size_t group, const Value& value) {
  json means = json::array();
  for (size_t first = 0; first < count; first += group) {
    const size_t last = std::min(count, first + group);
    double sum = 0;
    for (size_t i = first; i < last; ++i) sum += double(value(i));
    means.push_back(std::llround(sum / double(last - first)));
  }
  return means;
}

void AddEntries(json& out, const std::vector<Step>& steps, size_t group) {
  const bool own_numbers = NumbersAscend(steps);
  for (size_t first = 0; first < steps.size(); first += group) {
    const size_t last = std::min(steps.size(), first + group);
    int64_t longest = 0;
    bool outlier = false;
    for (size_t i = first; i < last; ++i) {
      longest = std::max(longest, steps[i].duration_ns());
      outlier = outlier || steps[i].outlier;
    }
    if (outlier) out["outlier"].push_back(first / group);
    out["number"].push_back(own_numbers ? steps[first].number : int64_t(first));
    out["start_ns"].push_back(steps[first].start_ns);
    out["duration_max_ns"].push_back(longest);
    out["kind"].push_back(int(KindOf(steps, first, last)));
  }
}

json Summary(const ProcessSteps& steps, const StepBreakdown* breakdown) {
  json means = json::array();
  json medians = json::array();
  json p95s = json::array();
  if (breakdown != nullptr) {
    for (const PhaseShare& phase : breakdown->phases) {
      means.push_back(std::llround(phase.steady.mean));
      medians.push_back(phase.steady.median);
      p95s.push_back(phase.steady.p95);
    }
  }
  const Sample& duration = steps.duration;
  return {{"count", duration.count},    {"median_ns", duration.median}, {"p5_ns", duration.p5},
          {"p95_ns", duration.p95},     {"mean_ns", duration.mean},     {"phase_mean_ns", means},
          {"phase_median_ns", medians}, {"phase_p95_ns", p95s}};
}

// A track without phases yet. Its arrays have one entry per `group` steps.
json EmptyTrack(const std::string& name, size_t steps, size_t group) {
  json track = {{"track", name}, {"group", group}, {"count", steps}};
  for (const char* list : {"facts", "phases", "number", "start_ns", "duration_max_ns", "kind",
                           "outlier", "phase_ns"}) {
    track[list] = json::array();
  }
  return track;
}

json CpuTrack(const ProcessSteps& process, const StepBreakdown* breakdown, size_t group) {
  const std::vector<Step>& steps = process.steps;
  json track = EmptyTrack("CPU", steps.size(), group);
  track["summary"] = Summary(process, breakdown);
  AddEntries(track, steps, group);
  track["duration_ns"] =
      GroupMeans(steps.size(), group, [&](size_t i) { return steps[i].duration_ns(); });
  if (breakdown == nullptr) return track;
  for (const PhaseShare& phase : breakdown->phases) {
    const std::string label = ElideMiddle(CleanText(phase.name), kLongestLabel);
    track["phases"].push_back({{"key", PhaseKindKey(phase.kind)}, {"label", label}, {"help", ""}});
    track["phase_ns"].push_back(
        GroupMeans(steps.size(), group, [&](size_t i) { return phase.per_step_ns[i]; }));
  }
  return track;
}

json OneProcess(const RunOverview& overview, size_t index, size_t most_steps) {
  const ProcessSteps& process = overview.steps.processes[index];
  const bool has_phases = index < overview.breakdowns.size();
  const StepBreakdown* breakdown = has_phases ? &overview.breakdowns[index] : nullptr;
  const size_t group = (process.steps.size() + most_steps - 1) / most_steps;
  return {{"process", ProcessLabel(overview, process)},
          {"tracks", json::array({CpuTrack(process, breakdown, group)})}};
}

}  // namespace

nlohmann::json PageTraining(const RunOverview& overview, size_t most_steps) {
  json out = json::array();
  const size_t share =
      std::max<size_t>(1, most_steps / std::max<size_t>(1, overview.steps.processes.size()));
  for (size_t i = 0; i < overview.steps.processes.size(); ++i) {
    out.push_back(OneProcess(overview, i, std::max<size_t>(100, share)));
  }
  return out;
}

nlohmann::json PageStepKinds() {
  json names = json::array();
  for (int kind = 0; kind <= int(StepKind::kExcluded); ++kind) {
    names.push_back(StepKindName(StepKind(kind)));
  }
  return names;
}

}  // namespace batchlight
