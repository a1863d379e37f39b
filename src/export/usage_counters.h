// What processes and the machine used over time, as whole numbers for trace viewers.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "analysis/cpu/usage.h"
#include "export/event_selection.h"

namespace batchlight {

// "processors used, %": 250 are two and a half.
inline std::string CounterTitle(const UsageSeries& series) {
  if (series.unit == UsageUnit::kProcessors) return series.title + ", %";
  return series.title + (series.unit == UsageUnit::kBytes ? ", bytes" : ", bytes/s");
}

// Calls point(at_ns, value) -> Status for each value that is selected, but for those that repeat
// the one before.
template <typename Point>
Status VisitPoints(const EventSelection& selection, const UsageSeries& series, Point&& point) {
  constexpr double kPercent = 100;
  const double unit = series.unit == UsageUnit::kProcessors ? kPercent : 1;
  int64_t last = -1;
  for (const auto& [at_ns, value] : series.values) {
    const double known = std::isnan(value) ? 0 : value;  // viewers know no gap in a counter
    const auto number = static_cast<int64_t>(known * unit + 0.5);
    if (number == last || !selection.HasTime(at_ns, at_ns)) continue;
    last = number;
    RETURN_IF_ERROR(point(at_ns, number));
  }
  return {};
}

}  // namespace batchlight
