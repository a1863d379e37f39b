// A forked child starts over: its parent's chunks, file and locks are not its own.
#pragma once

namespace batchlight::inject {

// At attach: from then on a child can tell that it is one, however it was made.
void WatchForks();

// Called by the fork handler.
void StartOverAfterFork();

// Called before a thread opens or revives its stream: in a child that was made behind the C
// library's back (a raw clone, _Fork) the first thread that records starts over, whichever that is.
// False: another thread is at it, and this one has to leave its event out. `is_child`: the caller
// knows that this is one, for kernels that cannot tell us.
bool StartOverIfForked(bool is_child);

}  // namespace batchlight::inject
