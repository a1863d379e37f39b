// --filter-time and --filter-nvtx: the stretch of time that a report covers.
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

// What --filter-time asks for, after CheckFilterFlags; all time where a range decides.
stats::TimeWindow WindowOf(const FilterFlags& flags);

// Checks what it can before an input is read. Errors: kUsage.
Status CheckFilterFlags(const FilterFlags& flags);

// The filter that the two flags give; the range (stats::FindRange) takes precedence. With
// `nsys_compat` the store keeps only what the range's process did: nsys filters out the others.
// Errors (kUsage): no such range.
Result<EventFilter> MakeFilter(Store& store, const FilterFlags& flags, bool nsys_compat);

}  // namespace batchlight::cli
