// Whom a GPU waited for while it had nothing to do.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

// The tracks of the thread that launched what ended an idle time, ascending; empty: it is not
// known. None: the event is no idle time.
std::optional<std::vector<uint32_t>> TracksWaitedFor(const Timeline& timeline, uint32_t ref);

}  // namespace batchlight::timeline
