// --filter-time and --filter-nvtx: the stretch of time a report is about.
#pragma once

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

// "[start]/[end]". Errors: kUsage.
Result<EventFilter> ParseTimeFilter(std::string_view text);

// "range[@domain][/index]": the index-th (from 0, 0 if not given) instance by start. The domain is
// the default one if not given, any for "*". Errors: kUsage when there is no such range.
Result<EventFilter> FindNvtxFilter(const Store& store, std::string_view text);

// The filter of the two flags, of which the range has precedence. With `nsys_compat` the store
// loses what other processes than the range's did: nsys filters those out. Errors: kUsage.
Result<EventFilter> MakeFilter(Store& store, std::string_view time, std::string_view nvtx,
                               bool nsys_compat);

}  // namespace batchlight::cli
