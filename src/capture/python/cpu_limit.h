// How much processor time the calling thread may take for something.
#pragma once

#include <cstdint>

#include "capture/loop/clock.h"

namespace batchlight::capture {

class CpuLimit {
 public:
  // Begins when the thread's clock of processor time was `begin_cpu_ns`.
  CpuLimit(int64_t begin_cpu_ns, int64_t most_ns)
      : until_cpu_ns_(begin_cpu_ns + most_ns), ask_at_ns_(MonotonicNow() + most_ns) {}

  // Asking costs no system call: no processor time is taken in less time than that.
  bool IsReached() {
    const int64_t now_ns = MonotonicNow();
    if (now_ns < ask_at_ns_) return false;
    const int64_t left_ns = until_cpu_ns_ - ClockNow(CLOCK_THREAD_CPUTIME_ID);
    ask_at_ns_ = now_ns + left_ns;
    return left_ns <= 0;
  }

 private:
  int64_t until_cpu_ns_;
  int64_t ask_at_ns_;
};

}  // namespace batchlight::capture
