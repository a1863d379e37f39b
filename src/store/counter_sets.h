// Names in counter_ranges and counter_values that more than their readers need to know.
#pragma once

#include <string_view>

namespace batchlight {

// Before the set: of one launch, which ran once for each pass of the hardware.
inline constexpr std::string_view kReplayedSet = "replayed, ";

// The metric that says how long a launch, or the stretch that was measured, took in ns.
inline constexpr std::string_view kGpuTimeMetric = "gpu__time_duration.sum";

}  // namespace batchlight
