// The store's tables of events, under one numbering and with names.
#pragma once

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

void AddStoreEvents(Timeline& timeline);

}  // namespace batchlight::timeline
