#include "inject/rt/clock.h"

#include <cstring>

namespace batchlight::inject {
namespace {

constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
constinit ClockPair g_first = {};  // the first pair this process read

#if defined(__x86_64__)
// The kernel makes the TSC its clock source only if it is invariant, and drops it when the counters
// of the processors disagree. Asking CPUID as well would add nothing, and in a virtual machine each
// CPUID costs tens of microseconds.
bool CounterIsSteady() {
  char source[32] = {};
  sys::ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                sizeof source - 1);
  return std::strncmp(source, "tsc", 3) == 0;
}
#elif defined(__aarch64__)
bool CounterIsSteady() { return true; }  // the generic timer is system-wide by architecture
#else
bool CounterIsSteady() { return false; }
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
  const int64_t elapsed_ns = now.monotonic_ns - g_first.monotonic_ns;
  if (g_clock_kind == format::ClockKind::kMonotonic || elapsed_ns <= 0) {
    return kNanosecondsPerSecond;
  }
  return static_cast<uint64_t>(static_cast<unsigned __int128>(now.ticks - g_first.ticks) *
                               kNanosecondsPerSecond / static_cast<uint64_t>(elapsed_ns));
}

}  // namespace batchlight::inject
