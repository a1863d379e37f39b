// A forked child starts over: its parent's chunks, file and locks are not its own.
#pragma once

namespace batchlight::inject {

// Called by the fork handler, or by the first event when the program forked behind the C library's
// back.
void StartOverAfterFork();

}  // namespace batchlight::inject
