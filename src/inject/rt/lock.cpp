#include "inject/rt/lock.h"

#include "inject/rt/counters.h"

namespace batchlight::inject {
namespace {

constexpr long kNapNs = 50'000'000;
constexpr int64_t kPatienceNs = 1'000'000'000;

bool IsGone(uint32_t tid) { return sys::Call(SYS_tgkill, sys::Pid(), tid, 0) == -ESRCH; }

// Naps until the word changes; the time that took, but no more than a few naps: a process that was
// stopped meanwhile has not waited.
int64_t Nap(std::atomic<uint32_t>& word, uint32_t value) {
  const int64_t before = sys::Nanoseconds(CLOCK_MONOTONIC);
  const timespec nap = {0, kNapNs};
  sys::Call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &nap, nullptr, 0);
  const int64_t took = sys::Nanoseconds(CLOCK_MONOTONIC) - before;
  return took < 2 * kNapNs ? took : 2 * kNapNs;
}

}  // namespace

bool Lock::Wait(uint32_t own) {
  int64_t waited = 0;
  uint32_t next = own;
  for (;;) {
    uint32_t word = word_.load(std::memory_order_relaxed);
    if (IsFree(word)) {
      if (word_.compare_exchange_weak(word, next, std::memory_order_acquire)) return true;
      continue;
    }
    const uint32_t holder = word & ~kContended;
    const bool hopeless = holder == own || holder == given_up_.load(std::memory_order_relaxed);
    if (hopeless || waited >= kPatienceNs) {
      if (!hopeless) given_up_.store(holder, std::memory_order_relaxed);
      AddCounter(format::Counter::kEventsDroppedFile);
      t_thread.lock = nullptr;
      return false;
    }
    const uint32_t contended = holder | kContended;
    if (word != contended && !word_.compare_exchange_weak(word, contended)) continue;
    waited += Nap(word_, contended);
    next = own | kContended;  // there may be other waiters to wake
    word = contended;
    if (waited >= kNapNs && IsGone(holder & kThread) &&
        word_.compare_exchange_strong(word, next, std::memory_order_acquire)) {
      return true;
    }
  }
}

}  // namespace batchlight::inject
