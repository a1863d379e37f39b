// Which events of the timeline a finding is about.
#pragma once

#include <string>

#include "analysis/advice/finding.h"
#include "store/store.h"

namespace batchlight {

// What the timeline finds the evidence's events by; "" for settings, files and the like.
std::string EventOf(const Evidence& item);

// Of the finding's first evidence that has events in the recording; "": of none.
std::string EventOf(const Store& store, const Finding& finding);

}  // namespace batchlight
