// The recursion guard. Every function that writes takes one as proof: a thread that is inside the
// recorder (a signal handler that pushes a range, a hook reached from our own call) must not enter
// again. The second entry is ignored and counted.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/rt/counters.h"

namespace batchlight::inject {

class ThreadStream;

// All thread-local state of the core: small, in the initial TLS block (one fs: access).
struct ThreadState {
  ThreadStream* stream;
  uint32_t inside;        // 1 while a Guard is held
  uint32_t chunk_count;   // chunks this thread has opened, over all its streams
  uint32_t index_plus_1;  // thread_index + 1; 0 = none yet
};
extern __thread ThreadState t_thread;
// ThreadState::inside of a thread that must make no system call any more: no Guard lets it in.
inline constexpr uint32_t kConfined = 2;

class Guard {
 public:
  Guard() : entered_(t_thread.inside == 0) {
    if (__builtin_expect(!entered_, 0)) {
      AddCounter(format::Counter::kReentryIgnored);
      return;
    }
    t_thread.inside = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Guard() {
    if (__builtin_expect(!entered_, 0)) return;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_thread.inside = 0;
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // False: leave at once.
  explicit operator bool() const { return entered_; }

 private:
  const bool entered_;
};

}  // namespace batchlight::inject
