// A mutex of our own: the program may interpose pthread_mutex_lock, and in a forked child a lock
// held by a thread that did not come along must be free. The word carries the number of forks
// (g_fork_count) at which it was taken, so a lock from before the fork counts as free. For rare
// paths only (facts, registrations); never held while foreign code runs.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/rt/sys.h"

namespace batchlight::inject {

// How many forks lie between this process and the one that was exec'ed.
extern std::atomic<uint32_t> g_fork_count;

class Lock {
 public:
  void Acquire() {
    const uint32_t held = g_fork_count.load(std::memory_order_relaxed) << 2 | kHeld;
    const uint32_t contended = held ^ (kHeld | kContended);
    uint32_t next = held;
    uint32_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (word != held && word != contended) {
        if (word_.compare_exchange_weak(word, next, std::memory_order_acquire)) return;
      } else if (word == contended ||
                 word_.compare_exchange_weak(word, contended, std::memory_order_relaxed)) {
        sys::Call(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, contended, nullptr, nullptr, 0);
        next = contended;  // there may be other waiters to wake
        word = word_.load(std::memory_order_relaxed);
      }
    }
  }
  void Release() {
    const uint32_t before = word_.exchange(kFree, std::memory_order_release);
    if ((before & 3) == kContended) {
      sys::Call(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }

 private:
  static constexpr uint32_t kFree = 0, kHeld = 1, kContended = 2;
  std::atomic<uint32_t> word_{kFree};
};

class Locked {
 public:
  explicit Locked(Lock& lock) : lock_(lock) { lock_.Acquire(); }
  ~Locked() { lock_.Release(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Lock& lock_;
};

}  // namespace batchlight::inject
