// A track for each communicator of each process.
#pragma once

#include <vector>

#include "timeline/tracks/store_tracks.h"

namespace batchlight::timeline {

void AddCollectiveTracks(Timeline& timeline, std::vector<TrackPlan>& plans);

}  // namespace batchlight::timeline
