#include "inject/backtrace/stack_walk.h"

#include <pthread.h>
#include <sys/auxv.h>

#include "inject/backtrace/stack_rows.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

#if defined(__SANITIZE_ADDRESS__)
#define BATCHLIGHT_READS_ANY_STACK [[gnu::no_sanitize_address]]
#elif defined(__SANITIZE_THREAD__)
#define BATCHLIGHT_READS_ANY_STACK [[gnu::no_sanitize_thread]]
#else
#define BATCHLIGHT_READS_ANY_STACK
#endif

namespace batchlight::inject::backtrace {
namespace {

constexpr uintptr_t kPage = 4096;
// A stack of a thread lies below its control block, that of the process below what the kernel put
// there; who is further away from it is on another one.
constexpr uintptr_t kMostStackBytes = 64 << 20;
// What finding a row may take of the stack. A thread that has less left is not walked: it would end
// the program.
constexpr uintptr_t kOwnStackBytes = 8 << 10;
// Frames of the recorder and of CUPTI above the program's.
constexpr size_t kMostOwnFrames = 32;
// Bits beyond hold a signature of the return address (AArch64).
constexpr uintptr_t kAddressMask = (uintptr_t{1} << 48) - 1;

struct Registers {
  uintptr_t pc;
  uintptr_t stack_pointer;
  uintptr_t frame_pointer;
};

[[gnu::always_inline]] inline Registers Here() {
  Registers here;
#if defined(__x86_64__)
  __asm__ volatile("lea 0(%%rip), %0\n mov %%rsp, %1\n mov %%rbp, %2"
                   : "=&r"(here.pc), "=&r"(here.stack_pointer), "=&r"(here.frame_pointer));
#elif defined(__aarch64__)
  __asm__ volatile("adr %0, .\n mov %1, sp\n mov %2, x29"
                   : "=&r"(here.pc), "=&r"(here.stack_pointer), "=&r"(here.frame_pointer));
#endif
  return here;
}

uintptr_t StackEnd() {
  const bool is_first_thread = sys::Tid() == sys::Pid();
  return is_first_thread ? getauxval(AT_RANDOM) : static_cast<uintptr_t>(pthread_self());
}

// The kernel reads the word before it finds that there is no such operation.
bool IsReadable(uintptr_t address) {
  constexpr int kNoOperation = -1;
  constexpr size_t kSignalSetBytes = 8;
  return sys::Call(SYS_rt_sigprocmask, kNoOperation, address, nullptr, kSignalSetBytes) != -EFAULT;
}

// Whether all from the stack pointer to the end is the thread's stack, as far as can be told.
bool Knows(OwnStack& own, uintptr_t stack_pointer) {
  if (own.end == 0) {
    own.end = StackEnd() & ~uintptr_t{7};
    own.readable_from = own.end & ~(kPage - 1);
  }
  if (stack_pointer >= own.end || own.end - stack_pointer > kMostStackBytes) return false;
  while (stack_pointer < own.readable_from) {
    if (!IsReadable(own.readable_from - kPage)) return false;
    own.readable_from -= kPage;
  }
  return true;
}

class Walk {
 public:
  Walk(Registers here, uintptr_t end) : at_(here), from_(here.stack_pointer), end_(end) {}

  uintptr_t pc() const { return at_.pc; }

  // To the caller. False: there is none, or it cannot be told.
  BATCHLIGHT_READS_ANY_STACK bool Step(StackRow row) {
    if (row.kind == StackRow::kUnknown || row.kind == StackRow::kOutermost) return false;
    uintptr_t frame = row.kind == StackRow::kByStackPointer ? at_.stack_pointer : at_.frame_pointer;
    frame += row.frame_bytes();
    if (row.kind == StackRow::kAtFramePointer && !Load(frame, &frame)) return false;
    Registers caller{0, frame, at_.frame_pointer};
    if (!Load(frame + row.return_bytes(), &caller.pc)) {
      return false;
    }
    if (row.frame_pointer != StackRow::kKept) {
      const uintptr_t beside =
          row.frame_pointer == StackRow::kSavedBesideFrame ? frame : at_.frame_pointer;
      if (!Load(beside + row.pointer_bytes(), &caller.frame_pointer)) {
        return false;
      }
    }
    caller.pc &= kAddressMask;
    if (caller.pc == 0 || frame <= at_.stack_pointer) return false;
    caller.pc -= 1;  // within the call
    at_ = caller;
    return true;
  }

 private:
  BATCHLIGHT_READS_ANY_STACK bool Load(uintptr_t address, uintptr_t* word) const {
    if (address < from_ || address > end_ - sizeof *word || address % sizeof *word != 0)
      return false;
    *word = *reinterpret_cast<const uintptr_t*>(address);
    return true;
  }

  Registers at_;
  const uintptr_t from_;
  const uintptr_t end_;
};

}  // namespace

[[gnu::noinline]] bool WalkOwnStack(const Guard& guard, OwnStack& own, size_t most_frames,
                                    WalkedStack& walked) {
  const Registers here = Here();
  walked.count = 0;
  walked.hash = 0;
  if (!Knows(own, here.stack_pointer - kOwnStackBytes)) return false;
  if (most_frames > WalkedStack::kMostFrames) most_frames = WalkedStack::kMostFrames;
  Walk walk(here, own.end);
  size_t skipped = 0;
  while (walked.count < most_frames) {
    const StackRow row = g_stack_rows.At(guard, walk.pc());
    if (row.is_code == 0) break;  // what was read is no return address
    if (walked.count > 0 || row.is_recorder == 0) {
      walked.frames[walked.count++] = walk.pc();
      walked.hash = FoldProduct(walked.hash ^ walk.pc(), 0xc2b2ae3d27d4eb4f);
    } else if (++skipped > kMostOwnFrames) {
      return false;
    }
    if (!walk.Step(row)) break;
  }
  return walked.count > 0;
}

}  // namespace batchlight::inject::backtrace
