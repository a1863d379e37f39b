// The events of a stretch of time, by name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/result/result_table.h"
#include "timeline/index/timeline.h"

namespace batchlight::timeline {

inline constexpr size_t kMostNamesInRange = 2000;

// The events that touch [from, to), by name: how many, and how much of their time lies in it. A
// call within another of its name is part of that one's time, as in the table of operators.
ResultTable EventsInRange(const Timeline& timeline, int64_t from_ns, int64_t to_ns);

}  // namespace batchlight::timeline
