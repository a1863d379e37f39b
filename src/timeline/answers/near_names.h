// What somebody may have meant who looked for a name that no event has.
#pragma once

#include <string>
#include <string_view>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

// Whether an event's name contains the text; ASCII case does not count.
bool HasName(const Timeline& timeline, std::string_view text);

// "; did you mean a or b?" with names, or their own last parts, that look like the text; else
// "; the names with most time are "a", "b" and "c"". "": there are no names.
std::string NearNamesText(const Timeline& timeline, std::string_view text);

}  // namespace batchlight::timeline
