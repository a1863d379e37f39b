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
  ThreadId thread;      // below whose calls it stands; None: of the whole process
  Track track;          // without its group
  std::function<void(Track& track)> fill;
};

// Adds groups and tracks: of each process steps and phases, its GPUs, its threads, its counters.
void AddStoreTracks(Timeline& timeline, std::vector<TrackPlan> derived);

// Puts events into rows, each as `lanes` places it, and summarizes them. By start, then longest.
template <typename Lanes>
class RowFiller {
 public:
  explicit RowFiller(Track& track) : track_(track) {}

  void Add(uint32_t ref, int64_t start_ns, int64_t end_ns) {
    const size_t lane = lanes_.Place(start_ns, end_ns);
    if (lane >= track_.rows.size()) track_.rows.resize(lane + 1);
    track_.rows[lane].Add(ref, start_ns, end_ns);
  }
  void Finish() {
    for (EventRow& row : track_.rows) row.Summarize();
  }

 private:
  Track& track_;
  Lanes lanes_;
};

template <typename Lanes>
void FillRows(const Events& events, const std::vector<uint32_t>& refs, Track& track) {
  RowFiller<Lanes> rows(track);
  for (const uint32_t ref : refs) rows.Add(ref, events.Start(ref), events.End(ref));
  rows.Finish();
}

}  // namespace batchlight::timeline
