// Native stacks in the recording: walked where a thread is, and defined once a chunk.
//
//   if (!Walk(guard, kMost)) return;
//   const uint32_t stack = Define(guard, *stream, sizeof(Record));
//   if (stack != 0) stream->Write(Record{.stack = stack});
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/buffer/thread_stream.h"
#include "inject/rt/guard.h"

namespace batchlight::inject::backtrace {

// Walks the calling thread's stack. False: it cannot be walked here, or there is no memory.
bool Walk(const Guard& guard, size_t most_frames);

// The stack that the thread walked last, as a NativeStack of the stream's open chunk, which then
// has `room` bytes left. Voids string ids. 0: there is no room.
uint32_t Define(const Guard& guard, ThreadStream& stream, size_t room);

// The thread ends.
void ReleaseThread();

}  // namespace batchlight::inject::backtrace
