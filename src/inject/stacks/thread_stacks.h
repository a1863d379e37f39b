// Python stacks in the recording: where operators and CUDA calls are called from.
//
// A stack is taken where Python code calls. What PyTorch itself calls inside an operator has the
// frames of that operator, which two loads tell: the innermost frame and its instruction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/buffer/thread_stream.h"
#include "inject/rt/guard.h"
#include "inject/stacks/frame_walk.h"

namespace batchlight::inject::stacks {

// Whether stacks of operators and CUDA calls are recorded in this process, and whether those of
// others may be asked for.
extern std::atomic<bool> g_of_calls, g_on;
inline bool IsOfCalls() { return g_of_calls.load(std::memory_order_acquire); }
inline bool IsOn() { return g_on.load(std::memory_order_acquire); }

// From here on they are. Once per process, when the source was checked.
void Start(const FrameSource& source, bool of_calls);
// Before the interpreter ends and frees other threads' frames.
void Stop();

// Where the calling thread is in Python code.
struct Place {
  bool is_known = false;  // false: no Python code, or where the operator around it was called
  uint32_t stack = 0;     // PythonStack in the stream's open chunk; 0: not defined there yet
};

// An operator begins. Once it is in the recording, OperatorRecorded() and OperatorEnds() follow.
Place OperatorBegins(const Guard& guard, const ThreadStream& stream);
void OperatorRecorded();
void OperatorEnds();
// A CUDA call begins.
Place CallBegins(const Guard& guard, const ThreadStream& stream);
// Memory is allocated: the place is told inside of operators too.
Place AllocationBegins(const Guard& guard, const ThreadStream& stream);

// The stack of the place that was told last, defined in the stream's open chunk, which then has
// `room` bytes left. Voids string ids. 0: there is no room.
uint32_t Define(ThreadStream& stream, size_t room);

// The thread ends.
void ReleaseThread();

}  // namespace batchlight::inject::stacks
