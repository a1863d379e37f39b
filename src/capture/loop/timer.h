// Something that is due at a moment, once.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace batchlight::capture {

class Timer {
 public:
  bool running() const { return at_ns_ != 0; }
  void Start(double seconds);
  void Stop() { at_ns_ = 0; }
  // True if it has run out, the first time this is asked.
  bool Due();

  // How long an event loop may wait: until the first runs out, -1 = without end.
  static int TimeoutMs(std::initializer_list<const Timer*> timers);

 private:
  int64_t at_ns_ = 0;  // CLOCK_MONOTONIC
};

}  // namespace batchlight::capture
