#include "inject/rt/guard.h"

#include <signal.h>

#include "inject/rt/lock.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {

constinit LeftInside g_left_inside = {};

namespace {

// A signal handler that returns will hardly interrupt one event with so many.
constexpr uint32_t kStuckCount = 100;

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)  // Linux 4.7
#endif

// An alternate stack with SS_AUTODISARM is none any more while a handler runs on it.
bool OnSignalStack() {
  stack_t stack = {};
  if (sys::Call(SYS_sigaltstack, nullptr, &stack) != 0) return true;
  const auto flags = static_cast<uint32_t>(stack.ss_flags);
  return (flags & SS_ONSTACK) != 0 || (t_thread.disarms && (flags & SS_DISABLE) != 0);
}

// Of the thread's control block, which lies at the upper end of its stack.
uintptr_t ThreadPointer() {
#if defined(__x86_64__)
  uintptr_t pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
#else
  return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
#endif
}

// Whether both addresses lie in one stack, as far as can be told: what lies above the thread's own
// control block or far away is another one. Handlers run there whose alternate stack was disarmed,
// or that switch to another coroutine.
bool AreInOneStack(uintptr_t inner, uintptr_t outer) {
  constexpr uintptr_t kMostBytes = 8u << 20;  // as the C library gives to a thread
  const uintptr_t end = ThreadPointer();
  if (outer > end) return inner > end && outer - inner <= kMostBytes;  // the first thread's
  return end - inner <= kMostBytes;
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
// own. So if we are in the same stack and not deeper, the holder's frame is gone. Else it may be
// gone as well: a thread that jumped and then calls from further in. That shows when it goes on and
// on, and then a holder that is there after all must still find its stream.
bool Guard::TakeOver(uintptr_t stack_pointer) {
  const uintptr_t holder = t_thread.inside;
  if (holder != kConfined) {
    const bool is_over =
        stack_pointer >= holder && AreInOneStack(holder, stack_pointer) && !OnSignalStack();
    if (is_over || IsStuck()) {
      Abandon(is_over, stack_pointer);
      return true;
    }
  }
  AddCounter(format::Counter::kReentryIgnored);
  return false;
}

void NoteSignalStack() {
  stack_t stack = {};
  if (sys::Call(SYS_sigaltstack, nullptr, &stack) != 0) return;
  if ((static_cast<uint32_t>(stack.ss_flags) & SS_AUTODISARM) != 0) t_thread.disarms = true;
}

void LeaveForGood() {
  if (t_thread.inside != 0 && t_thread.inside != kConfined) {
    Abandon(true, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  }
}

}  // namespace batchlight::inject
