// Tracks of the store's events: which there are, in which order, and what lies in their rows.
#pragma once

#include <functional>
#include <vector>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

// A track whose rows are still to be filled. Plans are filled in parallel.
struct TrackPlan {
  ProcessId process;
  int64_t device = -1;  // -1: of the process itself
  Track track;          // without its group
  std::function<void(Track& track)> fill;
};

// Adds groups and tracks: of each process its `derived` tracks first.
void AddStoreTracks(Timeline& timeline, std::vector<TrackPlan> derived);

// Puts events into rows, each as `lanes` places it, and summarizes them. `refs` by start, then
// longest.
template <typename Lanes>
void FillRows(const Events& events, const std::vector<uint32_t>& refs, Lanes lanes, Track& track) {
  for (const uint32_t ref : refs) {
    const size_t lane = lanes.Place(events.Start(ref), events.End(ref));
    if (lane >= track.rows.size()) track.rows.resize(lane + 1);
    track.rows[lane].Add(ref);
  }
  for (EventRow& row : track.rows) row.Summarize(events);
}

}  // namespace batchlight::timeline
