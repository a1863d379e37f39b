// What belongs together of collectives: NCCL's call, the event and its kernels; the same call on
// the ranks.
#pragma once

#include <vector>

#include "timeline/answers/links.h"

namespace batchlight::timeline {

// "owner" from a call to its event and from there to its kernels; "collective" from a rank's event
// or kernel to the next rank's.
std::vector<EventLink> CollectiveLinks(const Timeline& timeline);

}  // namespace batchlight::timeline
