// What a process writes first in each of its captures: who it is.
#pragma once

#include "inject/buffer/thread_stream.h"

namespace batchlight::inject {

// Reads RANK and similar variables once, at attach: the program may change its environment later.
// Every capture repeats them.
void NoteRank(const Guard& guard);

// Writes ProcessStart and ClockSync records. False, with nothing written, if another capture has
// begun.
bool WriteProcessStart(ThreadStream& stream, uint32_t capture_index);
void WriteClockSync(ThreadStream& stream);

}  // namespace batchlight::inject
