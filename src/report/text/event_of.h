// Where in the timeline a finding is to be seen.
#pragma once

#include <string>
#include <string_view>

#include "analysis/advice/finding.h"
#include "store/store.h"

namespace batchlight {

// What the timeline finds the evidence's events by; "" for settings, files and the like.
std::string EventOf(const Evidence& item);

// Key of the timeline's table that these are of; "": any.
std::string_view TableOf(const Evidence& item);

// The evidence that takes most time, of that with a known place or with events in the recording;
// nullptr: none has.
const Evidence* ToBeSeen(const Store& store, const Finding& finding);

}  // namespace batchlight
