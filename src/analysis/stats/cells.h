// Cells that several reports fill alike: without a value where there is none.
#pragma once

#include <cstdint>

#include "analysis/result/result_table.h"
#include "analysis/stats/duration_summary.h"
#include "store/store.h"

namespace batchlight::stats {

inline Cell PidCell(const Store& store, ProcessId process) {
  if (process.IsNone()) return {};
  return int64_t{store.processes.pid[process.row()]};
}

// Without a value in the primary context.
inline Cell GreenContextCell(uint32_t context) {
  if (context == 0) return {};
  return int64_t{context};
}

// Percent with one decimal; without a value when the whole is 0.
inline Cell PercentCell(double part, double whole) {
  if (whole == 0) return {};
  return RoundDecimal(part * 100 / whole);
}

}  // namespace batchlight::stats
