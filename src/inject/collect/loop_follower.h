// Follows the training loop for those who do something at the end of its steps: windows
// (step_window.h), steps without detail (step_detail.h) and hardware counters (g_on_iteration).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace batchlight::inject {

// True if anybody wants to know. If not, phases look at nothing else.
extern bool g_follows_loop;
// Likewise the end of ranges, for a short while only.
extern std::atomic<bool> g_follows_ranges;
inline bool FollowsRanges() { return g_follows_ranges.load(std::memory_order_relaxed); }

// What else is to be done where an iteration of the training loop ends, on the thread that trains:
// set by who reads hardware counters, before the first iteration or at any end of one. `number`: of
// the iteration, from 1.
extern void (*g_on_iteration)(uint64_t number);

// Reads the session's options (ControlPage::extra).
void ReadLoopOptions();

// A phase of the training loop (phases.def) begins or ends on the calling thread. `range_depth`:
// the thread's open NVTX ranges in the default domain. Not from within a Guard.
void LoopPhaseBegins(uint32_t phase, const char* name, size_t name_bytes);
void LoopPhaseEnds(int range_depth);
// A range of the default domain ends, and so many are still open.
void LoopRangeEnds(int range_depth);

}  // namespace batchlight::inject
