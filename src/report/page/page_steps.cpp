#include "report/page/page_steps.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "analysis/advice/thresholds.h"
#include "analysis/breakdown/step_breakdown.h"
#include "analysis/breakdown/track_device.h"
#include "analysis/result/sum_rule.h"
#include "analysis/stages/stages.h"
#include "report/page/page_columns.h"
#include "report/page/page_events.h"
#include "report/text/number_text.h"
#include "report/text/run_text.h"
#include "report/text/utf8.h"

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

// In most loops the names count up. Where they start again (batch 0 of every epoch), steps are
// numbered here, so that each number means one step.
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

// A number of the page about the lengths of steps, or of a phase in them: of the steady steps as
// the analysis has it, of selected ones by the rule over "ns" and "steps", a 1 for each.
struct LengthNumber {
  const char* key;
  SumRule rule;
  json (*of)(const Sample& sample);
  const char* phase_key;  // nullptr: only of whole steps
};
const LengthNumber kLengthNumbers[] = {
    {"median_ns", QuantileOf("ns", 50), [](const Sample& s) { return json(s.median); },
     "phase_median_ns"},
    {"p5_ns", QuantileOf("ns", 5), [](const Sample& s) { return json(s.p5); }, nullptr},
    {"p95_ns", QuantileOf("ns", 95), [](const Sample& s) { return json(s.p95); }, "phase_p95_ns"},
    {"mean_ns", RatioOf("ns", "steps"), [](const Sample& s) { return json(s.mean); },
     "phase_mean_ns"},
};

// Fewer steps have no percentiles to show.
size_t FewestForPercentiles() {
  Sample sample;
  while (!HasPercentiles(sample)) ++sample.count;
  return sample.count;
}

// A track without phases yet. Its arrays have one entry per `group` steps.
json EmptyTrack(const std::string& name, const Sample& length, size_t steps, size_t group) {
  json track = {{"track", name}, {"group", group}, {"count", steps}};
  for (const char* list : {"facts", "phases", "number", "start_ns", "duration_max_ns", "kind",
                           "outlier", "outlier_phases", "outlier_stage", "phase_ns"}) {
    track[list] = json::array();
  }
  track["fewest_for_percentiles"] = FewestForPercentiles();
  track["summary"] = {{"count", length.count}};
  for (const LengthNumber& number : kLengthNumbers) {
    track["rules"][number.key] = PageRule(number.rule);
    track["summary"][number.key] = number.of(length);
    if (number.phase_key != nullptr) track["summary"][number.phase_key] = json::array();
  }
  return track;
}

// One phase of a track: what it is called, its time over steady steps, and in each step.
template <typename PerStep>
void AddPhase(json& track, json description, const Sample& steady, size_t steps,
              const PerStep& per_step) {
  track["phases"].push_back(std::move(description));
  track["phase_ns"].push_back(GroupMeans(steps, track["group"].get<size_t>(), per_step));
  for (const LengthNumber& number : kLengthNumbers) {
    if (number.phase_key != nullptr)
      track["summary"][number.phase_key].push_back(number.of(steady));
  }
}

// For each entry that is an outlier what was longer in it, where an entry is one step: its phases,
// each with its excess.
template <typename Explain>
void AddOutlierPhases(json& track, const Explain& explain) {
  if (track["group"] != 1) return;
  for (const json& entry : track["outlier"]) {
    json phases = json::array();
    for (const StepExcess& excess : explain(entry.get<size_t>())) {
      phases.push_back({excess.phase, excess.excess_ns});
    }
    track["outlier_phases"].push_back(std::move(phases));
  }
}

// For each of the same entries what stage of the run the better half of it is, which is told there
// already: [name, ns], or null.
void AddOutlierStages(json& track, const RunStages& stages, const ProcessSteps& process) {
  if (track["group"] != 1) return;
  for (const json& entry : track["outlier"]) {
    const auto most = MostOf(stages, process.process, process.steps[entry.get<size_t>()]);
    track["outlier_stage"].push_back(most ? json::array({StageKindName(most->kind), most->ns})
                                          : json());
  }
}

json CpuTrack(const ProcessSteps& process, const StepBreakdown* breakdown, const RunStages& stages,
              size_t group) {
  const std::vector<Step>& steps = process.steps;
  json track = EmptyTrack("CPU", process.duration, steps.size(), group);
  track["between_ns"] = std::max<int64_t>(0, process.between_ns);
  AddEntries(track, steps, group);
  AddOutlierStages(track, stages, process);
  track["duration_ns"] =
      GroupMeans(steps.size(), group, [&](size_t i) { return steps[i].duration_ns(); });
  if (breakdown == nullptr) return track;
  for (const PhaseShare& phase : breakdown->phases) {
    const std::string label = ElideMiddle(CleanText(phase.name), kLongestLabel);
    AddPhase(track, {{"key", PhaseKindKey(phase.kind)}, {"label", label}, {"help", ""}},
             phase.steady, steps.size(), [&](size_t i) { return phase.per_step_ns[i]; });
  }
  AddOutlierPhases(track, [&](size_t step) { return ExplainStep(*breakdown, step); });
  return track;
}

// The steps' windows on a GPU, treated as steps. A step that launched nothing does not count.
std::vector<Step> WindowsAsSteps(const ProcessSteps& process, const GpuBreakdown& gpu) {
  std::vector<Step> windows = process.steps;
  for (size_t i = 0; i < windows.size(); ++i) {
    windows[i].start_ns = gpu.steps[i].start_ns;
    windows[i].end_ns = gpu.steps[i].end_ns;
    if (gpu.steps[i].duration_ns() == 0) windows[i].kind = StepKind::kExcluded;
  }
  return windows;
}

json GpuFacts(const Store& store, const GpuBreakdown& gpu, const ProcessSteps& process,
              const std::string& name) {
  json facts = json::array();
  if (const int64_t pace = PaceOfGpuNs(gpu, process); pace > 0) {
    facts.push_back({{"label", name + " takes"},
                     {"value", TimeText(double(pace)) + " per step: the CPU runs ahead of it"}});
  }
  facts.push_back({{"label", name + " busy"}, {"value", PercentText(gpu.busy_share)}});
  const auto hidden = [&](const char* label, double ns) {
    if (ns > 0) facts.push_back({{"label", label}, {"value", TimeText(ns) + " per step"}});
  };
  hidden("Communication hidden", gpu.overlapped_communication_ns);
  hidden("Copies hidden", gpu.overlapped_copy_ns);
  hidden("Data loading hidden", gpu.hidden_loading_ns);
  const std::string names = FunctionTexts(store, gpu.idle_python);
  if (!names.empty())
    facts.push_back({{"label", name + " idle in Python"}, {"value", CleanText(names)}});
  return facts;
}

// The phases of a track of the page: rows of StepBreakdown::phases, or parts of GPU time.
std::vector<size_t> PhaseRows(const StepBreakdown& breakdown) {
  std::vector<size_t> rows(breakdown.phases.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}
std::vector<size_t> PhaseRows(const GpuBreakdown& gpu) {
  std::vector<size_t> rows;
  for (size_t part = 0; part < kGpuPartCount; ++part) {
    const auto in_step = [&](const GpuStepParts& step) { return step.part_ns[part] > 0; };
    if (std::any_of(gpu.steps.begin(), gpu.steps.end(), in_step)) rows.push_back(part);
  }
  return rows;
}

json Description(GpuPart part) {
  json out = {{"key", GpuPartKey(part)}, {"label", GpuPartName(part)}, {"help", GpuPartHelp(part)}};
  if (!IsIdle(part)) return out;
  const bool launched = part == GpuPart::kIdleQueue || part == GpuPart::kIdleElsewhere;
  out["idle"] = {{"where", launched ? "with work in its queue: " : "while the CPU is in "},
                 {"cause", IdleCause(part)}};
  return out;
}

json GpuTrack(const Store& store, const ProcessSteps& process, const GpuBreakdown& gpu,
              size_t group) {
  const std::string name = "GPU " + std::to_string(gpu.device);
  const std::vector<Step> windows = WindowsAsSteps(process, gpu);
  json track = EmptyTrack(name, gpu.window, windows.size(), group);
  track["facts"] = GpuFacts(store, gpu, process, name);
  track["idle_of_limit"] = advice::kIdleOfLimit;
  AddEntries(track, windows, group);
  track["duration_ns"] =
      GroupMeans(windows.size(), group, [&](size_t i) { return windows[i].duration_ns(); });
  const std::vector<size_t> parts = PhaseRows(gpu);
  for (const size_t i : parts) {
    AddPhase(track, Description(static_cast<GpuPart>(i)), gpu.steady[i], windows.size(),
             [&](size_t step) { return gpu.steps[step].part_ns[i]; });
  }
  AddOutlierPhases(track, [&](size_t step) {
    std::vector<StepExcess> all;
    for (uint32_t phase = 0; phase < parts.size(); ++phase) {
      const size_t part = parts[phase];
      all.push_back({phase, gpu.steps[step].part_ns[part] - gpu.steady[part].median});
    }
    return LargestExcesses(std::move(all));
  });
  return track;
}

// Adds the events of its phases to a track of the page.
class EventWriter {
 public:
  EventWriter(const RunOverview& overview, const PhaseEvents& events, size_t most,
              PageStrings& strings)
      : events_(events), strings_(strings) {
    size_t lists = 1;
    for (const StepBreakdown& breakdown : overview.breakdowns) lists += breakdown.phases.size();
    for (const GpuBreakdown& gpu : overview.gpu.breakdowns) lists += PhaseRows(gpu).size();
    most_ = std::clamp<size_t>(most / lists, 3, 25);
  }

  void Add(json& track, const ProcessSteps& process, int32_t device,
           const std::vector<size_t>& phases) {
    if (const TrackEvents* found = events_.Of(process.process, device)) {
      track["events"] = PageTrackEvents(*found, process, phases, most_, strings_);
    }
  }

 private:
  const PhaseEvents& events_;
  PageStrings& strings_;
  size_t most_;  // groups of a phase
};

json Rate(const RunOverview& overview, size_t index) {
  const StepRate rate = RateOfSteps(overview, index);
  return {{"text", RateText(rate.per_second())},
          {"mean_text", rate.has_two() ? RateText(rate.mean_per_second()) : ""},
          {"period_ns", rate.period_ns},
          {"of_gpu", rate.of_gpu}};
}

json OneProcess(const RunOverview& overview, size_t index, size_t most_steps, EventWriter& events) {
  const ProcessSteps& process = overview.steps.processes[index];
  const bool has_phases = index < overview.breakdowns.size();
  const StepBreakdown* breakdown = has_phases ? &overview.breakdowns[index] : nullptr;
  const size_t group = (process.steps.size() + most_steps - 1) / most_steps;
  json tracks = json::array({CpuTrack(process, breakdown, overview.stages, group)});
  if (breakdown != nullptr) events.Add(tracks[0], process, kCpuTrack, PhaseRows(*breakdown));
  for (const GpuBreakdown& gpu : overview.gpu.breakdowns) {
    if (gpu.process == process.process && gpu.steps.size() == process.steps.size()) {
      tracks.push_back(GpuTrack(*overview.store, process, gpu, group));
      events.Add(tracks.back(), process, TrackDevice(gpu.device), PhaseRows(gpu));
    }
  }
  const bool several = overview.steps.processes.size() > 1;
  return {{"process", ProcessLabel(overview, process)},
          {"pid", overview.store->processes.pid[process.process.row()]},
          {"whose", several ? NameOfRank(overview, process) : ""},
          {"rate", Rate(overview, index)},
          {"tracks", std::move(tracks)}};
}

}  // namespace

nlohmann::json PageTraining(const RunOverview& overview, const PhaseEvents& events,
                            size_t most_steps, size_t most_events, PageStrings& strings) {
  json out = json::array();
  EventWriter writer(overview, events, most_events, strings);
  const size_t share =
      std::max<size_t>(1, most_steps / std::max<size_t>(1, overview.steps.processes.size()));
  for (size_t i = 0; i < overview.steps.processes.size(); ++i) {
    out.push_back(OneProcess(overview, i, std::max<size_t>(100, share), writer));
  }
  return out;
}

// By what the analysis takes for an outlier (statistics.h).
std::string PageOutlierRule() {
  constexpr int64_t kLong = 1000;
  const int64_t spreads = OutlierDistance({.spread = kLong}) / kLong;
  const double share = double(OutlierDistance({.median = kLong})) / kLong;
  return "Longer than the median by " + std::to_string(spreads) +
         " robust standard deviations and by " + SignificantText(100 * share) + " %.";
}

nlohmann::json PageStepKinds() {
  json names = json::array();
  for (int kind = 0; kind < int(StepKind::kCount); ++kind) {
    names.push_back(StepKindName(StepKind(kind)));
  }
  return names;
}

}  // namespace batchlight
