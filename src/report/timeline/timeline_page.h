// The timeline without a program to serve it: page, events and names as elements of an HTML file,
// which is either a page of its own or the report's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "timeline/index/timeline.h"

namespace batchlight {

constexpr uint64_t kMostPageEvents = 2'000'000;

struct TimelinePage {
  std::string html;
  std::string left_out;  // one sentence about what the file does not hold; ""
};

// Of a longer run whole steps with at most kMostPageEvents events. `place` is where it opens:
// "step=13", percent-encoded (docs/design/0016-timeline.md, "URL"), or "".
TimelinePage MakeTimelinePage(const timeline::Timeline& timeline, std::string_view place = {});

// The same for a page that shows it in a frame (web/src/views/timeline_view.ts): data, style and
// script as elements that do nothing by themselves.
TimelinePage MakeTimelineElements(const timeline::Timeline& timeline,
                                  uint64_t most_events = kMostPageEvents);

}  // namespace batchlight
