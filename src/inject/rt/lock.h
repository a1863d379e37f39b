// A mutex of our own: the program may interpose pthread_mutex_lock, and a forked child must be able
// to free it. For rare paths only (facts, registrations); never held while foreign code runs.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/rt/sys.h"

namespace batchlight::inject {

class Lock {
 public:
  void Acquire() {
    uint32_t free = kFree;
    if (word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) return;
    while (word_.exchange(kContended, std::memory_order_acquire) != kFree) {
      sys::Call(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, kContended, nullptr, nullptr, 0);
    }
  }
  void Release() {
    if (word_.exchange(kFree, std::memory_order_release) == kContended) {
      sys::Call(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }
  // In a forked child, where the holder does not exist.
  void Reset() { word_.store(kFree, std::memory_order_relaxed); }

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
