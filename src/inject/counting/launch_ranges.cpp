#include "inject/counting/launch_ranges.h"

#include "inject/counting/capture_watch.h"
#include "inject/cupti/driver_launches.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {
namespace {

constexpr uint16_t kGraphLaunches[] = {
    514,  // cuGraphLaunch
    515,  // cuGraphLaunch_ptsz
};

constexpr int64_t kMostWaitNs = 2'000'000'000;

uint32_t OwnId() { return static_cast<uint32_t>(sys::Tid()); }

}  // namespace

LaunchRanges::LaunchRanges(const Library& library, void* subscriber)
    : library_(library), subscriber_(subscriber) {
  for (const uint16_t cbid : kGraphLaunches) {
    library.cuptiEnableCallback(1, subscriber, kDriverApi, cbid);
  }
}

void LaunchRanges::Begin(CounterSession& session, const void* context, size_t room) {
  const bool is_locked = Lock();
  session_ = &session;
  room_ = room;
  launches_ = 0;
  context_.store(context, std::memory_order_relaxed);
  is_refused_.store(!is_locked, std::memory_order_relaxed);
  is_on_.store(is_locked, std::memory_order_release);
  if (is_locked) Unlock();
  // They stay enabled, for some 0.1 us a launch: stacks of calls may want them too.
  for (const uint16_t cbid : kKernelLaunches) {
    library_.cuptiEnableCallback(1, subscriber_, kDriverApi, cbid);
  }
}

// A launch that another thread is making is waited for.
bool LaunchRanges::End(size_t* launches) {
  const bool is_locked = Lock();
  Stop();
  *launches = launches_;
  if (is_locked) Unlock();
  return is_locked && !is_refused_.load(std::memory_order_relaxed);
}

void LaunchRanges::OnCall(uint32_t cbid, const CallbackData& call) {
  constexpr uint32_t kEnter = 0;
  const bool is_graph = IsOneOf(kGraphLaunches, cbid);
  if (!is_graph && !IsOneOf(kKernelLaunches, cbid)) return;
  if (is_graph) has_graphs_.store(true, std::memory_order_relaxed);
  call.site == kEnter ? Enter(call) : Leave(call);
}

// What one launch calls in turn is part of it. What is captured runs later, and calls of CUPTI
// would break the capture. Who waits too long for another thread's launch, which may itself wait
// for this one's, goes on without a range.
void LaunchRanges::Enter(const CallbackData& call) {
  if (!is_on_.load(std::memory_order_acquire) || IsAnyCaptured()) return;
  if (call.context != nullptr && call.context != context_.load(std::memory_order_relaxed)) return;
  if (lock_.load(std::memory_order_relaxed) == OwnId()) return;
  if (!Lock()) return is_refused_.store(true, std::memory_order_relaxed);
  if (!is_on_.load(std::memory_order_relaxed)) return Unlock();
  open_ = call.correlation;
  is_pushed_ = launches_++ < room_ && !is_refused_.load(std::memory_order_relaxed);
  if (is_pushed_ && !session_->Push()) {
    is_refused_.store(true, std::memory_order_relaxed);
    is_pushed_ = false;
  }
}

void LaunchRanges::Leave(const CallbackData& call) {
  if (lock_.load(std::memory_order_relaxed) != OwnId() || open_ != call.correlation) return;
  if (is_pushed_ && !session_->Pop()) is_refused_.store(true, std::memory_order_relaxed);
  open_ = 0;
  Unlock();
}

bool LaunchRanges::Lock() {
  const uint32_t self = OwnId();
  const int64_t deadline = sys::Nanoseconds(CLOCK_MONOTONIC) + kMostWaitNs;
  while (true) {
    uint32_t holder = 0;
    if (lock_.compare_exchange_strong(holder, self, std::memory_order_acquire)) return true;
    if (sys::Nanoseconds(CLOCK_MONOTONIC) >= deadline) return false;
    const timespec wait{0, 1'000'000};
    sys::Call(SYS_futex, &lock_, FUTEX_WAIT_PRIVATE, holder, &wait, nullptr, 0);
  }
}

void LaunchRanges::Unlock() {
  lock_.store(0, std::memory_order_release);
  sys::Call(SYS_futex, &lock_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace batchlight::inject::cupti
