// Waits for locks, conditions, semaphores and futexes (-t osrt): who waited where, for whom, and
// where that one was meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct LockWaits {
  ThreadId thread;
  StringId call;
  PythonFrameId line;        // of Python that waits; None = not known
  ThreadId released_by;      // that held the lock, or signalled; None = not seen
  PythonFrameId their_line;  // where it was most of that time; None = not known
  uint64_t waits = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
};

// By total time, longest first. `stacks`: where in Python the calls were made, by row of
// store.os_calls. `line_of`: the line that a Python stack stands for.
std::vector<LockWaits> SumLockWaits(const Store& store, const std::vector<PythonStackId>& stacks,
                                    const std::function<PythonFrameId(PythonStackId)>& line_of);

}  // namespace batchlight
