// The clock of timers, and of all chunks of the tool.
#pragma once

#include <time.h>

#include <cstdint>

namespace batchlight::capture {

inline int64_t ClockNow(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// CLOCK_MONOTONIC, ns.
inline int64_t MonotonicNow() { return ClockNow(CLOCK_MONOTONIC); }

}  // namespace batchlight::capture
