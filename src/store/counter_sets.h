// What counter_ranges.counter_set says besides the set, where reading it was special.
#pragma once

#include <string_view>

namespace batchlight {

// Before the set: of one launch, which ran once for each pass of the hardware.
inline constexpr std::string_view kReplayedSet = "replayed, ";

}  // namespace batchlight
