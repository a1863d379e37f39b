// A run as tracks of events, for pictures at any zoom: rank -> process -> thread, GPU -> stream,
// counters. Built in memory from a store (tracks/build_timeline.h); a picture is asked for by
// answers/viewport.h.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run/run_basis.h"
#include "analysis/steps/steps.h"
#include "store/store.h"
#include "timeline/rows/counter_row.h"
#include "timeline/rows/event_row.h"
#include "timeline/rows/events.h"
#include "timeline/rows/names.h"

namespace batchlight::timeline {

enum class TrackKind : uint8_t {
#define TRACK_KIND(Name, key) k##Name,
#include "timeline/index/track_kinds.def"
#undef TRACK_KIND
};
std::string_view TrackKindKey(TrackKind kind);

struct Group {
  int32_t parent = -1;
  std::string kind;  // "process", "gpu", "host"
  std::string title;
  int32_t rank = -1;
  ProcessId process;
};

struct Track {
  int32_t group = -1;
  TrackKind kind = TrackKind::kThread;
  std::string title;
  ThreadId thread;                 // of calls and samples: whose
  bool open = true;                // shown in full at first
  std::vector<EventRow> rows;      // no two events of a row overlap
  std::vector<CounterRow> series;  // of a counter, instead of rows
  std::vector<std::string> series_titles;
  std::string_view unit;  // of a counter

  size_t row_count() const { return rows.size() + series.size(); }
  uint64_t event_count() const;
};

// Events that an analysis made, as a table of their own.
struct DerivedTable {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> end_ns;
  std::vector<StringId> name;
  // Where each process, thread or GPU has its rows, in order of the tracks that show them.
  std::vector<uint32_t> begins;
  bool nests = false;  // an event may lie within another of its name
  // By row, as in EventTable; empty: no row has parts.
  std::vector<uint8_t> in_parts;
  std::string_view parts;
  // As in EventTable; empty: no row waited for a thread.
  std::vector<ThreadId> waited_for;

  void Add(int64_t start, int64_t end, StringId text) {
    start_ns.push_back(start);
    end_ns.push_back(end);
    name.push_back(text);
  }
};

// What an item's name stands for where colours have a meaning.
struct PaletteEntry {
  StringId name;
  std::string_view key;    // "forward", of the report's palette
  std::string_view label;  // for people
  bool idle = false;       // time in which nothing works
};

struct EventPlace {
  uint32_t track = kNoRef;  // kNoRef: in no track
  uint32_t row = 0;
};

class Timeline;

// Which event of which timeline an event is: of a run that was read in two, of one of these.
struct EventOrigin {
  const Timeline* timeline = nullptr;
  uint32_t ref = kNoRef;
};
// The same of a table.
struct TableOrigin {
  const Timeline* timeline = nullptr;  // nullptr: it is the timeline's own
  uint32_t first_ref = 0;              // of the table there
  bool all_rows = true;                // the same ones; else these, ascending
  std::vector<uint32_t> rows;
};

class Timeline {
 public:
  // The store's events. Analyses add theirs (tracks/derived_tracks.h).
  explicit Timeline(const Store& store);  // must outlive this
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  const Store& store() const { return store_; }
  const Events& events() const { return events_; }
  const Names& names() const { return names_; }
  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<Track>& tracks() const { return tracks_; }
  const StepSet& steps() const { return steps_; }
  // What its derived tracks were made from, for tables of a part; empty: not kept.
  const RunBasis& basis() const { return basis_; }
  const std::vector<PaletteEntry>& palette(TrackKind kind) const {
    return palettes_[static_cast<size_t>(kind)];
  }
  size_t index_bytes() const;

  EventPlace PlaceOf(uint32_t ref) const;

  // Of a run that was read in two (tracks/join_timelines.h), else the event itself.
  EventOrigin OriginOf(uint32_t ref) const;
  // The other way; kNoRef: it is not here.
  uint32_t RefOf(const EventOrigin& origin) const;
  // How much more there is than the store knows.
  int64_t more_events() const { return more_events_; }
  int64_t more_duration_ns() const { return more_duration_ns_; }

  // For those who build it.
#define TRACK_KIND(Name, key) +1
  static constexpr size_t kTrackKinds = 0
#include "timeline/index/track_kinds.def"
#undef TRACK_KIND
      ;
  Events& events() { return events_; }
  Names& names() { return names_; }
  std::vector<Group>& groups() { return groups_; }
  std::vector<Track>& tracks() { return tracks_; }
  std::vector<PaletteEntry>& palette(TrackKind kind) {
    return palettes_[static_cast<size_t>(kind)];
  }
  DerivedTable& NewDerivedTable() { return derived_.emplace_back(); }
  std::vector<StringId>& NewNames() { return name_columns_.emplace_back(); }
  void SetSteps(StepSet steps) { steps_ = std::move(steps); }
  void SetBasis(RunBasis basis) { basis_ = std::move(basis); }
  // `origins`: by table.
  void SetOrigins(std::vector<TableOrigin> origins) { origins_ = std::move(origins); }
  void SetMore(int64_t events, int64_t duration_ns) {
    more_events_ = events;
    more_duration_ns_ = duration_ns;
  }

 private:
  const Store& store_;
  Names names_;
  Events events_;
  std::vector<Group> groups_;
  std::vector<Track> tracks_;
  StepSet steps_;
  RunBasis basis_;
  std::deque<DerivedTable> derived_;
  std::deque<std::vector<StringId>> name_columns_;
  std::vector<PaletteEntry> palettes_[kTrackKinds];
  std::vector<TableOrigin> origins_;  // by table; empty: all are its own
  int64_t more_events_ = 0;
  int64_t more_duration_ns_ = 0;
};

}  // namespace batchlight::timeline
