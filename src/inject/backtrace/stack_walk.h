// The calling thread's native stack, walked in place by the unwind tables of what is loaded.
//
// The walk reads nothing but the thread's own stack, between its stack pointer and its end: of
// other stacks (coroutines, signal stacks), and where the tables are wrong, it ends early.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/backtraces.h"
#include "inject/rt/guard.h"

namespace batchlight::inject::backtrace {

// Innermost first, without the frames of the recorder; of callers, the last byte of the call.
struct WalkedStack {
  static constexpr size_t kMostFrames = format::kMostBacktraceFrames;

  uint64_t hash;
  size_t count;
  uintptr_t frames[kMostFrames];
};

// What is known of the calling thread's stack. Zeroed: nothing yet.
struct OwnStack {
  uintptr_t readable_from;  // the lowest address found to be readable
  uintptr_t end;
};

// At most `most_frames` of the innermost frames. False: there are none to be had here.
bool WalkOwnStack(const Guard& guard, OwnStack& own, size_t most_frames, WalkedStack& walked);

}  // namespace batchlight::inject::backtrace
