#include "inject/counting/launch_ranges.h"

#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {
namespace {

// Callback ids as in cuda_driver_calls.def. The runtime's calls come here too.
constexpr uint16_t kGraphLaunches[] = {
    514,  // cuGraphLaunch
    515,  // cuGraphLaunch_ptsz
};
constexpr uint16_t kKernelLaunches[] = {
    307,  // cuLaunchKernel
    442,  // cuLaunchKernel_ptsz
    477,  // cuLaunchCooperativeKernel
    478,  // cuLaunchCooperativeKernel_ptsz
    652,  // cuLaunchKernelEx
    653,  // cuLaunchKernelEx_ptsz
};

template <size_t kCount>
bool IsOneOf(const uint16_t (&calls)[kCount], uint32_t cbid) {
  for (const uint16_t call : calls) {
    if (call == cbid) return true;
  }
  return false;
}

uint32_t OwnId() { return static_cast<uint32_t>(sys::Tid()); }

}  // namespace

LaunchRanges::LaunchRanges(const Library& library, void* subscriber)
    : library_(library), subscriber_(subscriber) {
  for (const uint16_t cbid : kGraphLaunches) {
    library.cuptiEnableCallback(1, subscriber, kDriverApi, cbid);
  }
}

void LaunchRanges::Begin(CounterSession& session, const void* context, size_t room) {
  session_ = &session;
  context_ = context;
  room_ = room;
  launches_ = 0;
  is_refused_ = false;
  is_on_.store(true, std::memory_order_release);
  // They stay enabled: stacks of calls may want them too.
  for (const uint16_t cbid : kKernelLaunches) {
    library_.cuptiEnableCallback(1, subscriber_, kDriverApi, cbid);
  }
}

// A launch that another thread is making is waited for.
bool LaunchRanges::End(size_t* launches) {
  Lock();
  is_on_.store(false, std::memory_order_release);
  Unlock();
  *launches = launches_;
  return !is_refused_;
}

void LaunchRanges::OnCall(uint32_t cbid, const CallbackData& call) {
  constexpr uint32_t kEnter = 0;
  const bool is_graph = IsOneOf(kGraphLaunches, cbid);
  if (!is_graph && !IsOneOf(kKernelLaunches, cbid)) return;
  if (is_graph) has_graphs_.store(true, std::memory_order_relaxed);
  call.site == kEnter ? Enter(call) : Leave(call);
}

// What one launch calls in turn is part of it.
void LaunchRanges::Enter(const CallbackData& call) {
  if (!is_on_.load(std::memory_order_acquire)) return;
  if (lock_.load(std::memory_order_relaxed) == OwnId()) return;
  Lock();
  const bool is_elsewhere = call.context != nullptr && call.context != context_;
  if (!is_on_.load(std::memory_order_relaxed) || is_elsewhere) return Unlock();
  open_ = call.correlation;
  is_pushed_ = launches_++ < room_ && !is_refused_;
  if (is_pushed_ && !session_->Push()) {
    is_refused_ = true;
    is_pushed_ = false;
  }
}

void LaunchRanges::Leave(const CallbackData& call) {
  if (lock_.load(std::memory_order_relaxed) != OwnId() || open_ != call.correlation) return;
  if (is_pushed_ && !session_->Pop()) is_refused_ = true;
  open_ = 0;
  Unlock();
}

void LaunchRanges::Lock() {
  const uint32_t self = OwnId();
  while (true) {
    uint32_t holder = 0;
    if (lock_.compare_exchange_strong(holder, self, std::memory_order_acquire)) return;
    const timespec wait{0, 1'000'000};
    sys::Call(SYS_futex, &lock_, FUTEX_WAIT_PRIVATE, holder, &wait, nullptr, 0);
  }
}

void LaunchRanges::Unlock() {
  lock_.store(0, std::memory_order_release);
  sys::Call(SYS_futex, &lock_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace batchlight::inject::cupti
