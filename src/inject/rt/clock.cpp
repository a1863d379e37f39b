#include "inject/rt/clock.h"

#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace batchlight::inject {
namespace {

constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
ClockPair g_first;  // the first pair this process read

#if defined(__x86_64__)
bool CounterIsSteady() {
  unsigned a, b, c, d;
  if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || (d & (1u << 8)) == 0) return false;
  // The kernel watches the counters of all processors against each other and drops the TSC as its
  // clock source when they disagree (and in virtual machines that may migrate).
  char source[32] = {};
  sys::ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                sizeof source - 1);
  return std::strncmp(source, "tsc", 3) == 0;
}

// CPUID 15H: crystal frequency and its ratio to the TSC (Intel SDM vol. 3, 18.7.3); 0 = not told.
uint64_t HardwareTicksPerSecond() {
  unsigned denominator, numerator, crystal_hz, d;
  if (!__get_cpuid(0x15, &denominator, &numerator, &crystal_hz, &d)) return 0;
  if (denominator == 0 || numerator == 0 || crystal_hz == 0) return 0;
  return uint64_t{crystal_hz} * numerator / denominator;
}
#elif defined(__aarch64__)
bool CounterIsSteady() { return true; }  // the generic timer is system-wide by architecture
uint64_t HardwareTicksPerSecond() {
  uint64_t hz;
  asm("mrs %0, cntfrq_el0" : "=r"(hz));
  return hz;
}
#else
bool CounterIsSteady() { return false; }
uint64_t HardwareTicksPerSecond() { return 0; }
#endif

}  // namespace

constinit format::ClockKind g_clock_kind = format::ClockKind::kMonotonic;

void ChooseClock() {
  g_clock_kind = CounterIsSteady() ? format::ClockKind::kTsc : format::ClockKind::kMonotonic;
  g_first = ReadClockPair();
}

ClockPair ReadClockPair() {
  if (g_clock_kind == format::ClockKind::kMonotonic) {
    const int64_t now = sys::Nanoseconds(CLOCK_MONOTONIC);
    return {static_cast<uint64_t>(now), now};
  }
  // The narrowest of three brackets: an interrupt in one of them costs nothing.
  ClockPair best = {};
  uint64_t best_width = ~uint64_t{0};
  for (int i = 0; i < 3; ++i) {
    const uint64_t before = CounterTicks();
    const int64_t ns = sys::Nanoseconds(CLOCK_MONOTONIC);
    const uint64_t width = CounterTicks() - before;
    if (width < best_width) {
      best_width = width;
      best = {before + width / 2, ns};
    }
  }
  return best;
}

uint64_t TicksPerSecond(const ClockPair& now) {
  if (g_clock_kind == format::ClockKind::kMonotonic) return kNanosecondsPerSecond;
  constexpr int64_t kEnoughNs = 20'000'000;  // 50 ns of error in 20 ms: 2.5e-6
  const int64_t elapsed_ns = now.monotonic_ns - g_first.monotonic_ns;
  if (elapsed_ns < kEnoughNs) {
    if (const uint64_t told = HardwareTicksPerSecond()) return told;
  }
  if (elapsed_ns <= 0) return 0;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(now.ticks - g_first.ticks) *
                               kNanosecondsPerSecond / static_cast<uint64_t>(elapsed_ns));
}

}  // namespace batchlight::inject
