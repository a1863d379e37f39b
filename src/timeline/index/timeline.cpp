#include "timeline/index/timeline.h"

#include <iterator>

namespace batchlight::timeline {

std::string_view TrackKindKey(TrackKind kind) {
  static constexpr std::string_view kKeys[] = {
#define TRACK_KIND(Name, key) key,
#include "timeline/index/track_kinds.def"
#undef TRACK_KIND
  };
  static_assert(std::size(kKeys) == Timeline::kTrackKinds);
  return kKeys[static_cast<size_t>(kind)];
}

uint64_t Track::event_count() const {
  uint64_t count = 0;
  for (const EventRow& row : rows) count += row.refs().size();
  for (const CounterRow& row : series) count += row.size();
  return count;
}

Timeline::Timeline(const Store& store) : store_(store), names_(store.strings) {}

size_t Timeline::index_bytes() const {
  size_t bytes = 0;
  for (const Track& track : tracks_) {
    for (const EventRow& row : track.rows) bytes += row.resident_bytes();
  }
  return bytes;
}

EventPlace Timeline::PlaceOf(uint32_t ref) const {
  const int64_t start_ns = events_.Start(ref);
  for (size_t track = 0; track < tracks_.size(); ++track) {
    const std::vector<EventRow>& rows = tracks_[track].rows;
    for (size_t row = 0; row < rows.size(); ++row) {
      const std::vector<uint32_t>& refs = rows[row].refs();
      // Events without length may share their start.
      for (size_t at = rows[row].FirstBegun(events_, start_ns);
           at < refs.size() && events_.Start(refs[at]) == start_ns; ++at) {
        if (refs[at] == ref) return {static_cast<uint32_t>(track), static_cast<uint32_t>(row)};
      }
    }
  }
  return {};
}

}  // namespace batchlight::timeline
