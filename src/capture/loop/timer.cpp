#include "capture/loop/timer.h"

#include <algorithm>

#include "capture/loop/clock.h"

namespace batchlight::capture {

void Timer::Start(double seconds) {
  // Whoever asks for more than a century asks for no end, and no integer holds what he says.
  constexpr double kCenturyS = 100 * 365.25 * 86'400;
  at_ns_ = MonotonicNow() + static_cast<int64_t>(std::min(seconds, kCenturyS) * 1e9);
}

bool Timer::Due() {
  if (!running() || MonotonicNow() < at_ns_) return false;
  Stop();
  return true;
}

int Timer::TimeoutMs(std::initializer_list<const Timer*> timers) {
  constexpr int64_t kHourMs = 3'600'000;
  int64_t first_ns = INT64_MAX;
  for (const Timer* timer : timers) {
    if (timer->running()) first_ns = std::min(first_ns, timer->at_ns_);
  }
  if (first_ns == INT64_MAX) return -1;
  const int64_t left_ns = first_ns - MonotonicNow();
  return left_ns <= 0 ? 0 : static_cast<int>(std::min(left_ns / 1'000'000 + 1, kHourMs));
}

}  // namespace batchlight::capture
