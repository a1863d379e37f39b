#include "timeline/tracks/join_timelines.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "timeline/tracks/derived_tracks.h"

namespace batchlight::timeline {
namespace {

constexpr std::string_view kStepsKey = "steps";
constexpr std::string_view kStagesKey = "stages";

bool IsRecorded(std::string_view key) {
#define THREAD_TABLE(member, title, name) \
  if (key == decltype(Store::member)::kName) return true;
#define INSTANT_TABLE(member, title, name) THREAD_TABLE(member, title, name)
#define STREAM_TABLE(member, title) THREAD_TABLE(member, title, )
#define PROCESS_TABLE(member, title) THREAD_TABLE(member, title, )
#include "timeline/tracks/event_tables.def"
  return false;
}

// By rows of the newer: the older's thread.
std::vector<ThreadId> SameThreads(const Store& older, const Store& newer) {
  const auto key = [](const Store& store, ProcessId process, size_t row) {
    return std::tuple(process, store.threads.tid[row], store.threads.start_ns[row]);
  };
  std::map<decltype(key(older, {}, 0)), ThreadId> known;
  for (size_t row = 0; row < older.threads.size(); ++row) {
    known.emplace(key(older, older.threads.process[row], row), ThreadId::At(row));
  }
  std::vector<ThreadId> same(newer.threads.size());
  for (size_t row = 0; row < same.size(); ++row) {
    const ProcessId process = SameProcess(older, newer, newer.threads.process[row]);
    const auto at = known.find(key(newer, process, row));
    if (at != known.end()) same[row] = at->second;
  }
  return same;
}

class Joiner {
 public:
  Joiner(const Timeline& older, const Timeline& newer, int64_t at_ns)
      : older_(older),
        newer_(newer),
        at_ns_(at_ns),
        result_(std::make_unique<Timeline>(older.store())),
        threads_(SameThreads(older.store(), newer.store())) {}

  std::unique_ptr<Timeline> Join(StepSet steps) {
    TakeNames();
    TakePalettes();
    result_->groups() = older_.groups();
    for (const EventTable& table : older_.events().tables()) TakeOlder(table);
    result_->SetSteps(std::move(steps));
    AddStepTracks(*result_, step_plans_);
    origins_.resize(result_->events().tables().size());
    for (const EventTable& table : newer_.events().tables()) TakeNewer(table);
    result_->events().SetSpan(
        std::min(older_.events().run_start_ns(), at_ns_),
        std::max({at_ns_, older_.events().run_start_ns(), newer_.events().run_end_ns()}));
    JoinTracks();
    result_->SetOrigins(std::move(origins_));
    const int64_t more_ns = newer_.store().duration_ns - older_.store().duration_ns;
    result_->SetMore(more_events_, std::max<int64_t>(0, more_ns));
    return std::move(result_);
  }

 private:
  // The older's keep their numbers.
  void TakeNames() {
    Names& names = result_->names();
    for (uint32_t name = 0; name < older_.names().size(); ++name) {
      if (name >= older_.store().strings.size()) names.Add(older_.names().Text(name));
      if (older_.names().IsKernel(name)) names.MarkKernel(StringId{name});
    }
    names_.resize(newer_.names().size());
  }

  StringId NameOf(StringId name) {
    if (name.value >= names_.size()) return StringId::None();
    StringId& known = names_[name.value];
    if (known.IsNone()) {
      known = result_->names().Add(newer_.names().Text(name.value));
      if (newer_.names().IsKernel(name.value)) result_->names().MarkKernel(known);
    }
    return known;
  }

  void TakePalettes() {
    for (size_t i = 0; i < Timeline::kTrackKinds; ++i) {
      const auto kind = static_cast<TrackKind>(i);
      result_->palette(kind) = older_.palette(kind);
      for (PaletteEntry entry : newer_.palette(kind)) {
        entry.name = NameOf(entry.name);
        AddToPalette(*result_, kind, entry);
      }
    }
  }

  // Under the same refs. Steps there are anew.
  void TakeOlder(EventTable table) {
    table.until_ns = table.key == kStagesKey  ? INT64_MAX
                     : table.key == kStepsKey ? INT64_MIN
                                              : at_ns_;
    origins_.push_back({.timeline = &older_, .first_ref = table.first_ref, .rows = {}});
    result_->events().Add(std::move(table));
  }

  void TakeNewer(const EventTable& from) {
    if (from.key == kStagesKey || from.key == kStepsKey) return;
    TableOrigin origin{
        .timeline = &newer_, .first_ref = from.first_ref, .all_rows = false, .rows = {}};
    DerivedTable& table = result_->NewDerivedTable();
    table.nests = !from.threads.empty();
    size_t thread = 0;
    for (uint32_t row = 0; row < from.rows; ++row) {
      const int64_t end_ns = newer_.events().EndOfRow(from, row);
      if (from.start_ns[row] < at_ns_ && end_ns <= at_ns_) continue;
      for (; thread < from.threads.size() && from.threads[thread] <= row; ++thread) {
        const auto begin = static_cast<uint32_t>(origin.rows.size());
        if (table.begins.empty() || table.begins.back() != begin) table.begins.push_back(begin);
      }
      more_events_ += IsRecorded(from.key) && from.start_ns[row] >= at_ns_;
      origin.rows.push_back(row);
      table.start_ns.push_back(std::max(from.start_ns[row], at_ns_));
      if (from.end_ns != nullptr) table.end_ns.push_back(from.end_ns[row]);
      table.name.push_back(NameOf(StringId{Events::NameOfRow(from, row)}));
      if (from.in_parts != nullptr) table.in_parts.push_back(from.in_parts[row]);
      if (from.waited_for != nullptr) {
        const ThreadId waited_for = from.waited_for[row];
        table.waited_for.push_back(waited_for.IsNone() ? waited_for : threads_[waited_for.row()]);
      }
    }
    table.parts = from.parts;
    if (table.start_ns.empty()) return;
    const uint32_t ref = AddDerivedTable(*result_, from.key, from.title, table);
    if (ref != kNoRef) origins_.push_back(std::move(origin));
  }

  int32_t GroupOf(int32_t group) {
    if (group < 0) return group;
    Group wanted = newer_.groups()[static_cast<size_t>(group)];
    wanted.parent = GroupOf(wanted.parent);
    wanted.process = SameProcess(older_.store(), newer_.store(), wanted.process);
    std::vector<Group>& groups = result_->groups();
    const auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& known) {
      return std::tie(known.parent, known.kind, known.title, known.process) ==
             std::tie(wanted.parent, wanted.kind, wanted.title, wanted.process);
    });
    const auto place = static_cast<int32_t>(at - groups.begin());
    if (at == groups.end()) groups.push_back(std::move(wanted));
    return place;
  }

  // A track of the older's or the newer's among those that are alike.
  using TrackKey = std::tuple<int32_t, TrackKind, ThreadId, std::string, size_t>;
  TrackKey KeyOf(int32_t group, const Track& track, ThreadId thread,
                 std::map<TrackKey, size_t>& seen) const {
    TrackKey key{group, track.kind, thread, thread.IsNone() ? track.title : std::string(), 0};
    std::get<4>(key) = seen[key]++;
    return key;
  }

  static Track WithoutRows(const Track& track) {
    return {.group = track.group,
            .kind = track.kind,
            .title = track.title,
            .thread = track.thread,
            .open = track.open,
            .rows = {},
            .series = track.series,
            .series_titles = track.series_titles,
            .unit = track.unit};
  }

  void JoinTracks() {
    std::map<TrackKey, size_t> places, seen_older, seen_newer;
    std::vector<const Track*> newer(older_.tracks().size());
    std::vector<Track>& tracks = result_->tracks();
    for (const Track& track : older_.tracks()) {
      places[KeyOf(track.group, track, track.thread, seen_older)] = tracks.size();
      tracks.push_back(WithoutRows(track));
    }
    for (const Track& track : newer_.tracks()) {
      if (track.kind == TrackKind::kSteps || track.kind == TrackKind::kStages) continue;
      if (!track.series.empty()) continue;
      const int32_t group = GroupOf(track.group);
      const ThreadId thread = track.thread.IsNone() ? track.thread : threads_[track.thread.row()];
      const auto [place, added] =
          places.try_emplace(KeyOf(group, track, thread, seen_newer), tracks.size());
      if (added) {
        tracks.push_back(WithoutRows(track));
        tracks.back().group = group;
        tracks.back().thread = thread;
        newer.emplace_back();
      }
      newer[place->second] = &track;
    }
    std::vector<int64_t> dropped(tracks.size());
    ParallelFor(tracks.size(), [&](size_t i) {
      if (tracks[i].kind == TrackKind::kSteps) return;
      if (i < older_.tracks().size()) dropped[i] = TakeRows(older_.tracks()[i], tracks[i]);
      if (newer[i] != nullptr) AddRows(*newer[i], tracks[i]);
      for (EventRow& row : tracks[i].rows) row.Summarize();
    });
    for (const int64_t events : dropped) more_events_ -= events;
    FillSteps();
  }

  // How many recorded events the newer tells instead.
  int64_t TakeRows(const Track& from, Track& track) const {
    int64_t dropped = 0;
    const Events& events = older_.events();
    for (const EventRow& row : from.rows) {
      const std::vector<uint32_t>& refs = row.refs();
      const size_t count =
          from.kind == TrackKind::kStages ? refs.size() : row.FirstBegun(events, at_ns_);
      track.rows.emplace_back().TakeFirst(result_->events(), row, count);
      for (size_t at = count; at < refs.size(); ++at) {
        dropped += IsRecorded(events.TableOf(refs[at]).key);
      }
    }
    return dropped;
  }

  void AddRows(const Track& from, Track& track) const {
    if (track.rows.size() < from.rows.size()) track.rows.resize(from.rows.size());
    for (size_t i = 0; i < from.rows.size(); ++i) {
      const std::vector<uint32_t>& refs = from.rows[i].refs();
      for (size_t at = from.rows[i].FirstFrom(newer_.events(), at_ns_); at < refs.size(); ++at) {
        track.rows[i].Add(result_->events(), RefOfNewer(refs[at]));
      }
    }
  }

  // As Timeline::RefOf, of one of the newer's that is here.
  uint32_t RefOfNewer(uint32_t ref) const {
    const uint32_t first_ref = newer_.events().TableOf(ref).first_ref;
    for (size_t i = origins_.size(); i-- > 0;) {
      const TableOrigin& origin = origins_[i];
      if (origin.timeline != &newer_ || origin.first_ref != first_ref) continue;
      const auto at = std::lower_bound(origin.rows.begin(), origin.rows.end(), ref - first_ref);
      return result_->events().tables()[i].first_ref +
             static_cast<uint32_t>(at - origin.rows.begin());
    }
    return kNoRef;
  }

  void FillSteps() {
    std::vector<Track>& tracks = result_->tracks();
    for (TrackPlan& plan : step_plans_) {
      const auto is_of = [&](int32_t group) {
        return group >= 0 && result_->groups()[static_cast<size_t>(group)].process == plan.process;
      };
      const auto at = std::find_if(tracks.begin(), tracks.end(), [&](const Track& track) {
        return track.kind == TrackKind::kSteps && is_of(track.group);
      });
      if (at != tracks.end()) {
        plan.fill(*at);
        continue;
      }
      plan.track.group = -1;
      for (const Track& track : tracks) {
        if (plan.track.group < 0 && is_of(track.group)) plan.track.group = track.group;
      }
      plan.fill(plan.track);
      tracks.push_back(std::move(plan.track));
    }
  }

  const Timeline& older_;
  const Timeline& newer_;
  const int64_t at_ns_;
  std::unique_ptr<Timeline> result_;
  std::vector<ThreadId> threads_;  // by the newer's
  std::vector<StringId> names_;    // by the newer's; None: not asked for yet
  std::vector<TableOrigin> origins_;
  std::vector<TrackPlan> step_plans_;
  int64_t more_events_ = 0;
};

}  // namespace

ProcessId SameProcess(const Store& older, const Store& newer, ProcessId process) {
  if (process.IsNone()) return process;
  const ProcessesTable& known = older.processes;
  for (size_t row = 0; row < known.size(); ++row) {
    if (known.pid[row] == newer.processes.pid[process.row()] &&
        known.start_ns[row] == newer.processes.start_ns[process.row()]) {
      return ProcessId::At(row);
    }
  }
  return ProcessId::None();
}

std::unique_ptr<Timeline> JoinTimelines(const Timeline& older, const Timeline& newer, int64_t at_ns,
                                        StepSet steps) {
  return Joiner(older, newer, at_ns).Join(std::move(steps));
}

}  // namespace batchlight::timeline
