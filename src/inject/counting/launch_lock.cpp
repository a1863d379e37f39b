#include "inject/counting/launch_lock.h"

#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {
namespace {

constexpr int64_t kMostWaitNs = 2'000'000'000;

uint32_t OwnId() { return static_cast<uint32_t>(sys::Tid()); }

}  // namespace

bool LaunchLock::IsMine() const { return holder_.load(std::memory_order_relaxed) == OwnId(); }

bool LaunchLock::Take() {
  const uint32_t self = OwnId();
  const int64_t deadline = sys::Nanoseconds(CLOCK_MONOTONIC) + kMostWaitNs;
  while (true) {
    uint32_t holder = 0;
    if (holder_.compare_exchange_strong(holder, self, std::memory_order_acquire)) return true;
    if (sys::Nanoseconds(CLOCK_MONOTONIC) >= deadline) return false;
    const timespec wait{0, 1'000'000};
    sys::Call(SYS_futex, &holder_, FUTEX_WAIT_PRIVATE, holder, &wait, nullptr, 0);
  }
}

void LaunchLock::Give() {
  holder_.store(0, std::memory_order_release);
  sys::Call(SYS_futex, &holder_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace batchlight::inject::cupti
