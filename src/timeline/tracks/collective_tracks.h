// A track for each communicator of each process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/tracks/store_tracks.h"

namespace batchlight::timeline {

// "AllReduce, 263 kB": as its events are called; `bytes` 0: not known.
std::string CollectiveName(std::string_view operation, uint64_t bytes);

void AddCollectiveTracks(Timeline& timeline, std::vector<TrackPlan>& plans);

}  // namespace batchlight::timeline
