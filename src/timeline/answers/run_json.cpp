#include "timeline/answers/run_json.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analysis/phases/phase_kind.h"
#include "analysis/run/losses.h"
#include "analysis/run/program_processes.h"
#include "analysis/run/session_info.h"
#include "store/reason_features.h"

namespace batchlight::timeline {
namespace {

using nlohmann::json;

constexpr size_t kMostStepGroups = 4096;  // a chart has no more pixels
constexpr size_t kMostRanges = 15;        // of a program's own, that a chart names
constexpr int64_t kOtherRanges = -1;      // in place of a name's id

// What the page calls the palette of a kind of track; "name": colours go by name.
std::string_view PaletteKey(TrackKind kind) {
  if (kind == TrackKind::kStages) return "stage";
  if (kind == TrackKind::kSteps) return "step";
  if (kind == TrackKind::kPhases) return "phase";
  return kind == TrackKind::kIdle ? "idle" : "name";
}

// Of a run that goes on nothing is missing because it goes on, as long as its tool does.
json LossesJson(const Store& store, bool growing) {
  const std::vector<LossWarning> found = FindLosses(store);
  const bool followed = growing && std::none_of(found.begin(), found.end(), [](const auto& loss) {
                          return loss.name == kToolFeature;
                        });
  json losses = json::array();
  for (const LossWarning& loss : found) {
    if (followed && loss.name == kUnsealedFeature) continue;
    losses.push_back(
        {{"severity", SeverityName(loss.severity)}, {"text", loss.text}, {"advice", loss.advice}});
  }
  return losses;
}

json TracksJson(const Timeline& timeline) {
  const Events& events = timeline.events();
  json tracks = json::array();
  for (size_t id = 0; id < timeline.tracks().size(); ++id) {
    const Track& track = timeline.tracks()[id];
    int64_t from_ns = events.run_end_ns();
    int64_t to_ns = events.run_start_ns();
    for (const EventRow& row : track.rows) {
      if (row.refs().empty()) continue;
      from_ns = std::min(from_ns, events.Start(row.refs().front()));
      to_ns = std::max(to_ns, events.End(row.refs().back()));
    }
    for (const CounterRow& row : track.series) {
      if (row.size() == 0) continue;
      from_ns = std::min(from_ns, row.time_ns(0));
      to_ns = std::max(to_ns, row.time_ns(row.size() - 1));
    }
    json out = {{"id", id},
                {"group", track.group},
                {"kind", TrackKindKey(track.kind)},
                {"title", track.title},
                {"rows", track.row_count()},
                {"events", track.event_count()},
                {"from", from_ns},
                {"to", std::max(from_ns, to_ns)},
                {"palette", PaletteKey(track.kind)},
                {"open", track.open}};
    if (!track.series.empty()) {
      double most = 0;
      for (const CounterRow& row : track.series) most = std::max(most, row.most());
      out["counter"] = {{"unit", track.unit}, {"max", most}};
      out["series"] = track.series_titles;
    }
    tracks.push_back(std::move(out));
  }
  return tracks;
}

bool IsOwnRange(const PaletteEntry& entry) {
  return entry.key == PhaseKindKey(PhaseKind::kUserRange);
}

// Of a program's own ranges those that `steps` name: they may be as many as steps.
json PalettesJson(const Timeline& timeline, const json& steps) {
  std::set<int64_t> named;
  for (const json& process : steps) {
    for (const json& name : process["phases"]["names"]) named.insert(name.get<int64_t>());
  }
  json palettes = json::object();
  for (const TrackKind kind :
       {TrackKind::kStages, TrackKind::kSteps, TrackKind::kPhases, TrackKind::kIdle}) {
    json entries = json::array();
    for (const PaletteEntry& entry : timeline.palette(kind)) {
      const bool is_of_chart = kind == TrackKind::kPhases && IsOwnRange(entry);
      if (is_of_chart && !named.contains(entry.name.value)) continue;
      entries.push_back({{"name", entry.name.value},
                         {"key", entry.key},
                         {"label", entry.label},
                         {"idle", entry.idle}});
    }
    palettes[std::string(PaletteKey(kind))] = std::move(entries);
  }
  return palettes;
}

// Where another kind of steps begins, by place: [0, "warm-up"], [3, "steady"].
json KindsJson(const std::vector<Step>& steps) {
  json kinds = json::array();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i > 0 && steps[i].kind == steps[i - 1].kind) continue;
    kinds.push_back({i, StepKindName(steps[i].kind)});
  }
  return kinds;
}

json OutliersJson(const std::vector<Step>& steps) {
  json places = json::array();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].outlier) places.push_back(i);
  }
  return places;
}

// visit(events of a row): the phases of a process stand in its group, as its steps do.
template <typename Visitor>
void VisitPhaseRows(const Timeline& timeline, int32_t group, Visitor&& visit) {
  for (const Track& track : timeline.tracks()) {
    if (track.kind != TrackKind::kPhases || track.group != group) continue;
    for (const EventRow& row : track.rows) visit(row.refs());
  }
}

// Ids of names as the chart has them: in order of the palette, of the program's own ranges the
// longest, and kOtherRanges if there are others.
std::vector<int64_t> ChartedPhases(const Timeline& timeline, int32_t group) {
  const Events& events = timeline.events();
  std::unordered_map<uint32_t, int64_t> ns_of;
  VisitPhaseRows(timeline, group, [&](const auto& refs) {
    for (const uint32_t ref : refs) ns_of[events.Name(ref)] += events.End(ref) - events.Start(ref);
  });
  std::vector<PaletteEntry> entries;
  std::copy_if(timeline.palette(TrackKind::kPhases).begin(),
               timeline.palette(TrackKind::kPhases).end(), std::back_inserter(entries),
               [&](const PaletteEntry& entry) { return ns_of.contains(entry.name.value); });
  std::vector<uint32_t> ranges;
  for (const PaletteEntry& entry : entries) {
    if (IsOwnRange(entry)) ranges.push_back(entry.name.value);
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [&](uint32_t a, uint32_t b) { return ns_of[a] > ns_of[b]; });
  const std::set<uint32_t> others(
      ranges.begin() + static_cast<ptrdiff_t>(std::min(ranges.size(), kMostRanges)), ranges.end());
  std::vector<int64_t> names;
  for (const PaletteEntry& entry : entries) {
    if (!others.contains(entry.name.value)) names.push_back(entry.name.value);
  }
  if (!others.empty()) names.push_back(kOtherRanges);
  return names;
}

// What the steps of a process are made of: of each phase its mean in so many steps one after the
// other.
json PhasesJson(const Timeline& timeline, const std::vector<Step>& steps, int32_t group) {
  const size_t together = (steps.size() + kMostStepGroups - 1) / kMostStepGroups;
  const size_t groups = (steps.size() + together - 1) / together;
  const std::vector<int64_t> names = ChartedPhases(timeline, group);
  std::vector<std::vector<int64_t>> sums(names.size(), std::vector<int64_t>(groups));
  std::unordered_map<int64_t, size_t> places;
  for (size_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
  const Events& events = timeline.events();
  VisitPhaseRows(timeline, group, [&](const auto& refs) {
    size_t step = 0;
    for (const uint32_t ref : refs) {
      const int64_t start_ns = events.Start(ref);
      while (step + 1 < steps.size() && steps[step].end_ns <= start_ns) ++step;
      auto place = places.find(events.Name(ref));
      if (place == places.end()) place = places.find(kOtherRanges);
      if (place == places.end()) continue;
      sums[place->second][step / together] += events.End(ref) - start_ns;
    }
  });
  json means_us = json::array();
  for (const std::vector<int64_t>& sum : sums) {
    json means = json::array();
    for (size_t i = 0; i < groups; ++i) {
      const auto in_group = int64_t(std::min(together, steps.size() - i * together));
      means.push_back((sum[i] + 500 * in_group) / (1000 * in_group));
    }
    means_us.push_back(std::move(means));
  }
  return {{"group", together}, {"names", names}, {"us", std::move(means_us)}};
}

json StepsJson(const Timeline& timeline) {
  json out = json::array();
  // Of a run that was read in two the last one has all.
  const std::vector<EventTable>& tables = timeline.events().tables();
  const auto table = std::find_if(tables.rbegin(), tables.rend(),
                                  [](const EventTable& one) { return one.key == "steps"; });
  if (table == tables.rend()) return out;
  uint32_t first_ref = table->first_ref;
  for (const ProcessSteps& process : timeline.steps().processes) {
    json number = json::array();
    json from = json::array();
    json to = json::array();
    for (const Step& step : process.steps) {
      number.push_back(step.number);
      from.push_back(step.start_ns);
      to.push_back(step.end_ns);
    }
    int32_t group = -1;
    for (const Track& track : timeline.tracks()) {
      const bool is_own = track.kind == TrackKind::kSteps && track.group >= 0 &&
                          timeline.groups()[size_t(track.group)].process == process.process;
      if (is_own) group = track.group;
    }
    out.push_back({{"group", group},
                   {"rank", process.rank},
                   {"marker", process.marker},
                   {"table", "steps"},
                   {"first_ref", first_ref},
                   {"count", process.steps.size()},
                   {"number", std::move(number)},
                   {"from", std::move(from)},
                   {"to", std::move(to)},
                   {"steady", process.steady},
                   {"outlier", OutliersJson(process.steps)},
                   {"kinds", KindsJson(process.steps)},
                   {"phases", PhasesJson(timeline, process.steps, group)},
                   {"median", process.duration.median}});
    first_ref += static_cast<uint32_t>(process.steps.size());
  }
  return out;
}

}  // namespace

std::string RunHash(const Store& store) {
  // FNV-1a over what tells recordings apart and survives a move of the file.
  uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8)
      hash = (hash ^ ((value >> shift) & 255)) * 0x100000001b3u;
  };
  add(static_cast<uint64_t>(store.session_start_utc_ns));
  // The first process alone: while a run goes on, others come.
  const ProcessesTable& processes = store.processes;
  size_t first = 0;
  for (size_t row = 1; row < processes.size(); ++row) {
    if (std::tie(processes.start_ns[row], processes.pid[row]) <
        std::tie(processes.start_ns[first], processes.pid[first])) {
      first = row;
    }
  }
  if (processes.size() > 0) {
    add(processes.pid[first]);
    add(static_cast<uint64_t>(processes.start_ns[first]));
  }
  if (store.session_start_utc_ns == 0) {
    // A foreign file may say neither when nor what.
    add(static_cast<uint64_t>(store.duration_ns));
    add(store.operator_calls.size());
    add(store.kernels.size());
  }
  std::string text(16, '0');
  for (size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

namespace {

// How the program ended, where that is known and says that it failed; else "".
std::string FailureOf(const SessionInfo& session, const StepSet& steps) {
  const ProgramProcesses program = FindProgramProcesses(session, steps);
  if (program.main >= session.processes.size() || !program.failed[program.main]) return "";
  const ProcessInfo& main = session.processes[program.main];
  return EndIsKnown(main) ? main.ExitText() : "";
}

}  // namespace

json RunJson(const Timeline& timeline, const RunState& state) {
  const Store& store = timeline.store();
  const Events& events = timeline.events();
  // As the summary says it: what was recorded, and of what time.
  const SessionInfo session = DescribeSession(store);
  json tables = json::array();
  for (const EventTable& table : events.tables()) {
    tables.push_back({{"key", table.key},
                      {"title", table.title},
                      {"first_ref", table.first_ref},
                      {"rows", table.rows}});
  }
  json groups = json::array();
  for (size_t id = 0; id < timeline.groups().size(); ++id) {
    const Group& group = timeline.groups()[id];
    groups.push_back({{"id", id},
                      {"parent", group.parent},
                      {"kind", group.kind},
                      {"title", group.title},
                      {"rank", group.rank}});
  }
  json steps = StepsJson(timeline);
  json palettes = PalettesJson(timeline, steps);
  return {{"generation", state.generation},
          {"hash", RunHash(store)},
          {"source", store.source},
          {"title", ProgramName(session)},
          {"format", store.source_format},
          {"start_utc_ns", std::to_string(store.session_start_utc_ns)},
          {"from", events.run_start_ns()},
          {"to", events.run_end_ns()},
          {"duration", session.duration_ns + timeline.more_duration_ns()},
          {"failure", state.growing ? "" : FailureOf(session, timeline.steps())},
          {"events", static_cast<int64_t>(session.events) + timeline.more_events()},
          {"complete", state.complete},
          {"growing", state.growing},
          {"losses", LossesJson(store, state.growing)},
          {"tables", std::move(tables)},
          {"groups", std::move(groups)},
          {"tracks", TracksJson(timeline)},
          {"palettes", std::move(palettes)},
          {"steps", std::move(steps)}};
}

std::string DumpJson(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace batchlight::timeline
