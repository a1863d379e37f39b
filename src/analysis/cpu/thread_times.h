// What each thread of the program did with its time: on a processor, ready but without one,
// waiting.
#pragma once

#include <cstdint>
#include <vector>

#include "store/store.h"

namespace batchlight {

enum class ThreadState : uint8_t {
  kRunning,  // had a processor
  kReady,    // had lost it to another, and could have run
  kBlocked,  // waited for something
  kOff,      // one of these two: an imported file does not say which
};

// A stretch of a thread's life between two of its switches.
struct ThreadStretch {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  ThreadState state = ThreadState::kRunning;
};

struct ThreadTimes {
  ThreadId thread;
  int64_t running_ns = 0;  // between switches, and up to the samples before and after them
  int64_t ready_ns = 0;
  int64_t blocked_ns = 0;
  int64_t off_ns = 0;      // ready or blocked: not known
  uint64_t preempted = 0;  // times that it lost the processor
  uint64_t waits = 0;      // times that it gave it up
  int64_t sampled_ns = 0;  // processor time by samples
  StringId blocked_in;  // the call of the C library in which it was blocked longest; None: unknown
  int64_t blocked_in_ns = 0;
};

// Threads with switches or samples; by time on a processor.
std::vector<ThreadTimes> MeasureThreads(const Store& store);

// Stretches of one thread, in order; what came before its first switch and after its last is not
// known. Rows [begin, end) of cpu_switches are the thread's.
std::vector<ThreadStretch> StretchesOf(const Store& store, size_t begin, size_t end);

}  // namespace batchlight
