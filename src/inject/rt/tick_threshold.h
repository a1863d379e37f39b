// A length of time that ticks are compared with.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/rt/clock.h"

namespace batchlight::inject {

class TickThreshold {
 public:
  void Set(uint64_t ns) {
    ns_ = ns < kMostNs ? ns : kMostNs;
    Learn();
  }
  // The clock's rate is better known the longer the process runs.
  void Learn() {
    const double rate = static_cast<double>(TicksPerSecond(ReadClockPair()));
    ticks_.store(static_cast<uint64_t>(static_cast<double>(ns_) * rate / 1'000'000'000),
                 std::memory_order_relaxed);
  }
  bool IsAbove(uint64_t ticks) const { return ticks < ticks_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kMostNs = 4'000'000'000;
  uint64_t ns_ = 0;
  std::atomic<uint64_t> ticks_{0};
};

}  // namespace batchlight::inject
