// Tells code outside this library when collection starts and stops, so that it can stay out of the
// program's way in between: PyTorch prepares for an operator's callback even if the callback does
// nothing. Steps without detail (step_detail.h) count as if nothing were collected.
#pragma once

#include <atomic>

#include "inject/rt/control.h"

namespace batchlight::inject {

// Calls apply(now) while `applied`, which it keeps, is not what wanted() says. One thread at a
// time: the one inside looks again when it is done, so others need not wait.
template <typename Wanted, typename Apply>
void FollowInTurn(std::atomic<bool>& applied, std::atomic<bool>& applying, Wanted&& wanted,
                  Apply&& apply) {
  while (wanted() != applied.load() && !applying.exchange(true)) {
    const bool now = wanted();
    if (now != applied.load()) apply(now);
    applied.store(now);
    applying.store(false);
  }
}

using CollectingChanged = void (*)(int collecting);

// From now on the threads that call FollowCollecting() call `changed(0)` and `changed(1)`, one at a
// time. A process whose threads never do (a data loader's worker) is assumed to collect, as is a
// forked child. A session without windows, capture ranges and steps without detail never calls
// `changed`: nobody in the process might notice that collection begins.
void WatchCollecting(CollectingChanged changed);

// Steps without detail, or windows of steps, will come: they are followed in this session.
void FollowPlainSteps();
void FollowWindows();

extern bool g_follows_collecting;
void TellCollecting();

// To call where collection may have changed: a window or range has begun or ended, here or in
// another process. Only on the program's threads: at the end of the process PyTorch may be gone.
inline void FollowCollecting() {
  if (__builtin_expect(g_follows_collecting, 0)) TellCollecting();
}

}  // namespace batchlight::inject
