// Where a sampled Python function was while it ran.
#pragma once

#include <cstdint>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

struct SampledCall {
  uint64_t looks = 0;    // that saw it
  int64_t apart_ns = 0;  // from one to the next, mean
  uint32_t line = 0;     // that it was in for most of it, itself or calling others; 0: not known
  int64_t line_ns = 0;   // of it
};

// Of an event in a track of samples; `place` is the event's.
SampledCall SamplesOf(const Timeline& timeline, const EventPlace& place, uint32_t ref);

}  // namespace batchlight::timeline
