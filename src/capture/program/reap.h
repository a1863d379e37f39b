// Waits for the tool's children, and for the orphans that come to it as their subreaper.
#pragma once

#include <sys/types.h>

#include <functional>

namespace batchlight::capture {

// Calls `changed` with the wait status of each child that has ended or stopped since the last call.
// False if no child is left, grandchildren included. Does not block.
bool ReapChildren(const std::function<void(pid_t pid, int wait_status)>& changed);

}  // namespace batchlight::capture
