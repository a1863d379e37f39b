// --filter-time and --filter-nvtx: the stretch of time a report is about.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/stats/stats_report.h"
#include "base/status.h"

namespace batchlight::cli {

struct EventFilter {
  stats::TimeWindow window;
  std::string file_part;  // "_nvtx=step-3", "_start=8000000000_end=8050000000", "" for all
  std::string arguments;  // "nvtx=step/3", "start=8000000000:end=8050000000"
  ProcessId process;      // of the range; None for a stretch of time
};

// The flags as given; without a value where a flag was not given.
struct FilterFlags {
  std::optional<std::string> time;
  std::optional<std::string> nvtx;
  bool any() const { return time || nvtx; }
};

// What can be checked before an input is read. Errors: kUsage.
Status CheckFilterFlags(const FilterFlags& flags);

// The filter of the two flags, of which the range (stats::FindRange) has precedence. With
// `nsys_compat` the store loses what other processes than the range's did: nsys filters those out.
// Errors (kUsage): there is no such range.
Result<EventFilter> MakeFilter(Store& store, const FilterFlags& flags, bool nsys_compat);

}  // namespace batchlight::cli
