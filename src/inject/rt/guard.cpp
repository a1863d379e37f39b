#include "inject/rt/guard.h"

#include <signal.h>

#include "inject/rt/lock.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {

constinit LeftInside g_left_inside = {};

namespace {

// A signal handler that returns will hardly interrupt one event with so many.
constexpr uint32_t kStuckCount = 100;

bool OnSignalStack() {
  stack_t stack = {};
  return sys::Call(SYS_sigaltstack, nullptr, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) != 0;
}

// Whether the holder has neither left nor written anything for many entries.
bool IsStuck() {
  const size_t progress = t_thread.stream != nullptr && g_left_inside.progress != nullptr
                              ? g_left_inside.progress(t_thread.stream)
                              : 0;
  if (t_thread.stuck_inside == t_thread.inside && t_thread.stuck_progress == progress) {
    return ++t_thread.stuck_count >= kStuckCount;
  }
  t_thread.stuck_inside = t_thread.inside;
  t_thread.stuck_progress = progress;
  t_thread.stuck_count = 0;
  return false;
}

// `stack_pointer`: of the one who takes over, and so keeps others out meanwhile.
void Abandon(bool is_over, uintptr_t stack_pointer) {
  t_thread.inside = stack_pointer;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (is_over && t_thread.lock != nullptr) t_thread.lock->ReleaseIfOwn();
  if (g_left_inside.abandon != nullptr) g_left_inside.abandon(is_over);
  t_thread.stuck_inside = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_thread.inside = 0;
}

}  // namespace

// A handler that interrupts the holder runs deeper in the stack than that, or on a stack of its
// own. So if we are not deeper, the holder's frame is gone. If we are, it may be gone as well: a
// thread that jumped and then calls from further in. That shows when it goes on and on, and then a
// holder that is there after all must still find its stream.
bool Guard::TakeOver(uintptr_t stack_pointer) {
  const uintptr_t holder = t_thread.inside;
  if (holder != kConfined) {
    const bool is_over = stack_pointer >= holder && !OnSignalStack();
    if (is_over || IsStuck()) {
      Abandon(is_over, stack_pointer);
      return true;
    }
  }
  AddCounter(format::Counter::kReentryIgnored);
  return false;
}

void LeaveForGood() {
  if (t_thread.inside != 0 && t_thread.inside != kConfined) {
    Abandon(true, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  }
}

}  // namespace batchlight::inject
