// The timeline in one HTML file that needs no program: page, events and names.
#pragma once

#include <string>

#include "timeline/index/timeline.h"

namespace batchlight {

struct TimelinePage {
  std::string html;
  std::string left_out;  // one sentence about what the file does not hold; ""
};

// Of a longer run whole steps with at most `most_events` events.
TimelinePage MakeTimelinePage(const timeline::Timeline& timeline, uint64_t most_events = 2'000'000);

}  // namespace batchlight
