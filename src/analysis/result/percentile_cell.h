// A percentile of a table; empty where there are too few values for one.
#pragma once

#include <cstdint>

#include "analysis/numbers/statistics.h"
#include "analysis/result/result_table.h"

namespace batchlight {

inline Cell PercentileCell(const Sample& sample, int64_t Sample::*percentile) {
  return HasPercentiles(sample) ? Cell{sample.*percentile} : Cell{};
}

}  // namespace batchlight
