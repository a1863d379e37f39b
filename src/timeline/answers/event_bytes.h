// All events of a stretch of time as bytes for a page that has no server
// (docs/design/0016-timeline.md, "The static page").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

struct Stretch {
  int64_t from_ns = INT64_MIN / 4;
  int64_t to_ns = INT64_MAX / 4;
};

// How many events touch it.
uint64_t CountEvents(const Timeline& timeline, const Stretch& stretch);

// Of a name, in what is drawn. Longer ones stand in the bytes as a whole, where they are searched.
inline constexpr size_t kShownNameBytes = 300;

struct EventBytes {
  std::string bytes;            // not compressed
  std::vector<uint32_t> names;  // that occur in it, ascending
};
EventBytes EncodeEvents(const Timeline& timeline, const Stretch& stretch);

// The longest stretch of whole steps that has at most `most` events: steady ones, around the
// longest where that is an outlier, else from the first on. The whole run where that is short
// enough, or as much of its beginning where there are no steps.
Stretch ChooseStretch(const Timeline& timeline, uint64_t most);

}  // namespace batchlight::timeline
