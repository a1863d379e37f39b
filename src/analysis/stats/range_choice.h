// Which NVTX range a user means by "range[@domain][/index]".
#pragma once

#include <cstddef>
#include <string_view>

#include "analysis/stats/stats_report.h"

namespace batchlight::stats {

// Row of the index-th (from 0, 0 if not given) instance by start. The domain is the default one if
// none is given or for "default", any for "*". An end that is no whole number belongs to the name.
// Errors (kUsage): no such range, with the nearest names, or not so many instances of it.
Result<size_t> FindRange(const Store& store, std::string_view text);

// Its time; a range that is still open ends at the last moment of any range.
TimeWindow RangeTime(const Store& store, size_t row);

// "; did you mean forward?": of all ranges' texts.
std::string NearestRanges(const Store& store, std::string_view name);

}  // namespace batchlight::stats
