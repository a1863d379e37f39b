// Who has the GIL of a running process while others wait for it, seen from outside.
//
// Who waits sleeps in a futex of the GIL's own condition variable (CPython 3.8 to 3.14,
// _gil_runtime_state):
//
//   +------------+-------------+--------+---------------+------------------------------+
//   | interval   | last_holder | locked | switch_number | cond, mutex, switch_cond ... |
//   | 8, in us   | 8           | 4 + 4  | 8             | where the waiters sleep      |
//   +------------+-------------+--------+---------------+------------------------------+
//
// So where that lies need not be known: before the futex stands the address of a thread state that
// we know, between an interval and a flag. Nothing else looks like that.
#pragma once

#include <cstdint>
#include <span>

#include "capture/python/frame_reader.h"

namespace batchlight::capture {

class GilWatch {
 public:
  struct Holder {
    bool found = false;  // the futex is one of the GIL
    uint32_t tid = 0;    // 0: nobody has it at this moment
  };
  // `futex`: address in which a Python thread sleeps. `threads`: all of the process.
  Holder Find(const TargetMemory& memory, uint64_t futex, std::span<const PythonThread> threads);

 private:
  uint64_t last_holder_ = 0;  // its address, once it was seen; 0: not yet
};

// The futex in which a thread sleeps, as /proc/PID/task/TID/syscall says; 0: it runs, or sleeps in
// something else.
uint64_t FutexOf(const char* syscall_text);

}  // namespace batchlight::capture
