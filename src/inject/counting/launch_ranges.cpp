#include "inject/counting/launch_ranges.h"

#include "inject/counting/capture_watch.h"
#include "inject/counting/launch_callbacks.h"
#include "inject/cupti/driver_launches.h"

namespace batchlight::inject::cupti {

LaunchRanges::LaunchRanges(const Library& library, void* subscriber)
    : library_(library), subscriber_(subscriber) {
  EnableLaunches(library, subscriber, kGraphLaunches, true);
}

void LaunchRanges::Begin(CounterSession& session, const void* context, size_t room) {
  const bool is_locked = lock_.Take();
  session_ = &session;
  room_ = room;
  launches_ = 0;
  context_.store(context, std::memory_order_relaxed);
  is_refused_.store(!is_locked, std::memory_order_relaxed);
  is_on_.store(is_locked, std::memory_order_release);
  if (is_locked) lock_.Give();
  EnableLaunches(library_, subscriber_, kKernelLaunches, true);
}

// A launch that another thread is making is waited for.
bool LaunchRanges::End(size_t* launches) {
  const bool is_locked = lock_.Take();
  Stop();
  *launches = launches_;
  if (!is_locked) return false;  // and who launches still needs the callback behind its call
  EnableLaunches(library_, subscriber_, kKernelLaunches, false);
  lock_.Give();
  return !is_refused_.load(std::memory_order_relaxed);
}

void LaunchRanges::Close() {
  Stop();
  if (!lock_.Take()) return;
  EnableLaunches(library_, subscriber_, kKernelLaunches, false);
  EnableLaunches(library_, subscriber_, kGraphLaunches, false);
  lock_.Give();
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
  if (lock_.IsMine()) return;
  if (!lock_.Take()) return is_refused_.store(true, std::memory_order_relaxed);
  if (!is_on_.load(std::memory_order_relaxed)) return lock_.Give();
  open_ = call.correlation;
  is_pushed_ = launches_++ < room_ && !is_refused_.load(std::memory_order_relaxed);
  if (is_pushed_ && !session_->Push()) {
    is_refused_.store(true, std::memory_order_relaxed);
    is_pushed_ = false;
  }
}

void LaunchRanges::Leave(const CallbackData& call) {
  if (!lock_.IsMine() || open_ != call.correlation) return;
  if (HasFailed(call)) --launches_;  // nothing has run, and nothing is recorded
  if (is_pushed_ && !session_->Pop(HasFailed(call))) {
    is_refused_.store(true, std::memory_order_relaxed);
  }
  open_ = 0;
  lock_.Give();
}

}  // namespace batchlight::inject::cupti
