// The process's counters (format/counters.def): what was lost or ignored. Relaxed adds; the totals
// get into the recording with every chunk and, while events are being dropped, in place.
#pragma once

#include <atomic>
#include <cstdint>

#include "format/records.h"

namespace batchlight::inject {

extern std::atomic<uint64_t> g_counters[format::kCounterSlots];

inline void AddCounter(format::Counter counter, uint64_t n = 1) {
  g_counters[static_cast<size_t>(counter)].fetch_add(n, std::memory_order_relaxed);
}
inline uint64_t CounterValue(format::Counter counter) {
  return g_counters[static_cast<size_t>(counter)].load(std::memory_order_relaxed);
}

}  // namespace batchlight::inject
