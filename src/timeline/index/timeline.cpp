#include "timeline/index/timeline.h"

#include <algorithm>
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

EventOrigin Timeline::OriginOf(uint32_t ref) const {
  if (origins_.empty()) return {this, ref};
  const EventTable& table = events_.TableOf(ref);
  const TableOrigin& origin = origins_[static_cast<size_t>(&table - events_.tables().data())];
  if (origin.timeline == nullptr) return {this, ref};
  const uint32_t row = ref - table.first_ref;
  return {origin.timeline, origin.first_ref + (origin.all_rows ? row : origin.rows[row])};
}

uint32_t Timeline::RefOf(const EventOrigin& origin) const {
  if (origin.timeline == this) return origin.ref;
  const uint32_t first_ref = origin.timeline->events().TableOf(origin.ref).first_ref;
  const uint32_t row = origin.ref - first_ref;
  for (size_t i = 0; i < origins_.size(); ++i) {
    const TableOrigin& known = origins_[i];
    if (known.timeline != origin.timeline || known.first_ref != first_ref) continue;
    const EventTable& table = events_.tables()[i];
    if (known.all_rows) {
      return table.start_ns[row] < table.until_ns ? table.first_ref + row : kNoRef;
    }
    const auto at = std::lower_bound(known.rows.begin(), known.rows.end(), row);
    if (at == known.rows.end() || *at != row) return kNoRef;
    return table.first_ref + static_cast<uint32_t>(at - known.rows.begin());
  }
  return kNoRef;
}

}  // namespace batchlight::timeline
