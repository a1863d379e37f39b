// Where a sampled Python function was while it ran.
#pragma once

#include <cstdint>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

struct SampledLine {
  uint32_t line = 0;  // 0: not known
  int64_t ns = 0;     // of the event, in that line
};

// The line that the function of the event was in for most of it, itself or calling others. `place`
// is the event's, in a track of samples.
SampledLine LongestLineOf(const Timeline& timeline, const EventPlace& place, uint32_t ref);

}  // namespace batchlight::timeline
