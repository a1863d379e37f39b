// Waits for the tool's children, and for the orphans that come to it as their subreaper.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace batchlight::capture {

// `wait_status` of a child that has ended or stopped. `peak_bytes`: the most that it or a process
// that it waited for had in RAM; what it copied of this process before its program began counts.
using ChildChanged = std::function<void(pid_t pid, int wait_status, uint64_t peak_bytes)>;

// Calls `changed` for each child that has ended or stopped since the last call; before, while the
// number of one that has ended cannot be another's yet, `changes`. False if no child is left,
// grandchildren included. Does not block.
bool ReapChildren(const std::function<void(const siginfo_t&)>& changes,
                  const ChildChanged& changed);

// The most that this process has had in RAM.
uint64_t OwnPeakBytes();

}  // namespace batchlight::capture
