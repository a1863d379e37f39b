// Tells code outside of this library when events begin and cease to be collected here, so that it
// can be out of the program's way in between: PyTorch makes ready for an operator's callback
// whether the callback does something or not.
#pragma once

#include <atomic>

namespace batchlight::inject {

using CollectingChanged = void (*)(int collecting);

// From then on `changed(0)` and `changed(1)` are called by the threads that follow, one at a time.
// A process where nobody follows (a loader's worker) is taken to collect, as is a forked child. In
// a session without windows and capture ranges nothing is called: there nobody in the process may
// notice that collection begins.
void WatchCollecting(CollectingChanged changed);

extern std::atomic<CollectingChanged> g_collecting_changed;
void TellCollecting(CollectingChanged changed);

// Where collection may have changed: a window or range has begun or ended, here or in another
// process. On threads of the program only: PyTorch may be gone when the process ends.
inline void FollowCollecting() {
  const CollectingChanged changed = g_collecting_changed.load(std::memory_order_acquire);
  if (__builtin_expect(changed != nullptr, 0)) TellCollecting(changed);
}

}  // namespace batchlight::inject
