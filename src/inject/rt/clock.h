// Event times: the processor's time stamp counter where the kernel itself trusts it, else
// CLOCK_MONOTONIC. Chunk headers tie ticks to CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

#include "format/layout.h"
#include "inject/rt/sys.h"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace batchlight::inject {

extern format::ClockKind g_clock_kind;  // set once, before the first event

inline uint64_t CounterTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

inline uint64_t Ticks() {
  if (__builtin_expect(g_clock_kind == format::ClockKind::kTsc, 1)) return CounterTicks();
  return static_cast<uint64_t>(sys::Nanoseconds(CLOCK_MONOTONIC));
}

// The same instant on both clocks; the tick is at most half a clock_gettime away.
struct ClockPair {
  uint64_t ticks;
  int64_t monotonic_ns;
};
ClockPair ReadClockPair();

// Chooses the clock. Reads one small file of /sys.
void ChooseClock();

// Measured since ChooseClock(), with an uncertainty of some 50 ns over that time.
uint64_t TicksPerSecond(const ClockPair& now);

}  // namespace batchlight::inject
