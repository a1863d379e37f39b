// The recursion guard. Every function that writes takes one as proof: a thread that is inside the
// recorder (a signal handler that pushes a range, a hook reached from our own call) must not enter
// again. The second entry is ignored and counted.
//
// A signal handler may also leave the recorder for good: by siglongjmp, or because the thread is
// cancelled. Then nobody gives the guard back. The next entry finds that out by the stack: whoever
// holds it lies further in than the one who asks, or is stuck (guard.cpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/rt/counters.h"

namespace batchlight::inject {

class Lock;
class ThreadStream;

// All thread-local state of the core: small, in the initial TLS block (one fs: access).
struct ThreadState {
  ThreadStream* stream;
  uintptr_t inside;       // stack pointer of the Guard's holder; 0 = there is none
  uint32_t chunk_count;   // chunks this thread has opened, over all its streams
  uint32_t index_plus_1;  // thread_index + 1; 0 = none yet
  Lock* lock;             // held, or about to be
  size_t budget_bytes;    // of the process's budget, that the stream has taken
  // The holder when an entry was last refused, what it had written, and how often it was refused.
  uintptr_t stuck_inside;
  size_t stuck_progress;
  uint32_t stuck_count;
  bool in_place;   // InPlace
  bool calls_out;  // CallsOut
  bool disarms;    // it was seen to have an alternate stack with SS_AUTODISARM
};
extern __thread ThreadState t_thread;
// ThreadState::inside of a thread that must make no system call any more: no Guard lets it in.
inline constexpr uintptr_t kConfined = 1;

// What to do with the stream of a thread that left the recorder in the middle of an event.
struct LeftInside {
  // Changes with each record that is written.
  size_t (*progress)(const ThreadStream*);
  // `is_over`: nobody will go on where it was left. If not, a signal handler may still return
  // there.
  void (*abandon)(bool is_over);
};
extern LeftInside g_left_inside;

// Looks for what TakeOver() cannot see any more while it matters. Asked now and then.
void NoteSignalStack();

// The thread ends or starts anew: what it has left inside will not go on.
void LeaveForGood();

class Guard {
 public:
  Guard() : entered_(t_thread.inside == 0 || TakeOver(StackPointer())) {
    if (__builtin_expect(!entered_, 0)) return;
    t_thread.inside = StackPointer();
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Guard() {
    if (__builtin_expect(!entered_, 0)) return;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_thread.inside = 0;
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // False: leave at once.
  explicit operator bool() const { return entered_; }

 private:
  static uintptr_t StackPointer() {
    uintptr_t pointer;
#if defined(__x86_64__)
    __asm__("mov %%rsp, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    __asm__("mov %0, sp" : "=r"(pointer));
#else
    pointer = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
#endif
    return pointer;
  }
  // Somebody is inside: counts that, unless it turns out to be over. True: nobody is any more.
  [[gnu::cold, gnu::noinline]] static bool TakeOver(uintptr_t stack_pointer);

  const bool entered_;
};

// The Guard's holder calls a library for its own sake: what that calls is not the program's.
class CallsOut {
 public:
  explicit CallsOut(const Guard&) { t_thread.calls_out = true; }
  ~CallsOut() { t_thread.calls_out = false; }
  CallsOut(const CallsOut&) = delete;
  CallsOut& operator=(const CallsOut&) = delete;
};

}  // namespace batchlight::inject
