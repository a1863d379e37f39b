// A mutex of our own: the program may interpose pthread_mutex_lock, and in a forked child a lock
// held by a thread that did not come along must be free. For rare paths only (facts,
// registrations), under a Guard, one at a time; never held while foreign code runs.
//
// Nobody waits for ever. The word says which thread holds it, so that a thread that left the
// recorder with a lock in its hands (siglongjmp, a cancelled thread) gives it back when it is found
// out, and the lock of a thread that is gone is taken. What else keeps a holder from going on, a
// file system that hangs for one, costs the others a second once: then they go without.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/rt/guard.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {

// How many forks lie between this process and the one that was exec'ed.
extern std::atomic<uint32_t> g_fork_count;

class Lock {
 public:
  // False: given up; somebody has held it for a second. Do without what it protects.
  [[nodiscard]] bool Acquire() {
    t_thread.lock = this;  // before it is ours: a jump in between must find it
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const uint32_t own = Own();
    uint32_t word = kFree;
    if (word_.compare_exchange_strong(word, own, std::memory_order_acquire)) return true;
    return Wait(own);
  }
  void Release() {
    given_up_.store(kFree, std::memory_order_relaxed);
    const uint32_t before = word_.exchange(kFree, std::memory_order_release);
    if ((before & kContended) != 0) {
      sys::Call(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_thread.lock = nullptr;
  }
  // For a thread that does not know whether it has it.
  void ReleaseIfOwn() {
    t_thread.lock = nullptr;
    if ((word_.load(std::memory_order_relaxed) & ~kContended) == Own()) Release();
  }

 private:
  // The holder's thread id, of which Linux gives out 22 bits, and the number of forks.
  static constexpr uint32_t kFree = 0, kContended = 1u << 31, kThread = (1u << 22) - 1;

  static uint32_t Forks() {
    return g_fork_count.load(std::memory_order_relaxed) << 22 & ~(kContended | kThread);
  }
  static uint32_t Own() { return (static_cast<uint32_t>(sys::Tid()) & kThread) | Forks(); }
  static bool IsFree(uint32_t word) {
    return word == kFree || (word & ~(kContended | kThread)) != Forks();
  }
  bool Wait(uint32_t own);

  std::atomic<uint32_t> word_{kFree};
  std::atomic<uint32_t> given_up_{kFree};  // a holder for whom nobody waits any more
};

class Locked {
 public:
  explicit Locked(Lock& lock) : lock_(lock), acquired_(lock.Acquire()) {}
  ~Locked() {
    if (acquired_) lock_.Release();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  explicit operator bool() const { return acquired_; }

 private:
  Lock& lock_;
  const bool acquired_;
};

}  // namespace batchlight::inject
