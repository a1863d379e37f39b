// The first words of a process in each of its captures: who it is.
#pragma once

#include "inject/buffer/thread_stream.h"

namespace batchlight::inject {

// Reads RANK and its like from the environment, once: later the program may change it meanwhile.
// Every capture then says it.
void NoteRank(const Guard& guard);

// ProcessStart and ClockSync records. False, with nothing written, if the capture is not this one
// any more.
bool WriteProcessStart(ThreadStream& stream, uint32_t capture_index);
void WriteClockSync(ThreadStream& stream);

}  // namespace batchlight::inject
