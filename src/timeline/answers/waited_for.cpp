#include "timeline/answers/waited_for.h"

namespace batchlight::timeline {

std::optional<std::vector<uint32_t>> TracksWaitedFor(const Timeline& timeline, uint32_t ref) {
  const EventTable& table = timeline.events().TableOf(ref);
  if (table.waited_for == nullptr) return std::nullopt;
  const ThreadId thread = table.waited_for[ref - table.first_ref];
  std::vector<uint32_t> tracks;
  for (uint32_t track = 0; !thread.IsNone() && track < timeline.tracks().size(); ++track) {
    if (timeline.tracks()[track].thread == thread) tracks.push_back(track);
  }
  return tracks;
}

}  // namespace batchlight::timeline
