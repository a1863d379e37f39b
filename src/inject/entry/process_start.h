// The first words of a process in each of its captures: who it is.
#pragma once

#include "inject/buffer/thread_stream.h"

namespace batchlight::inject {

// ProcessStart and ClockSync records.
void WriteProcessStart(ThreadStream& stream);
void WriteClockSync(ThreadStream& stream);

}  // namespace batchlight::inject
