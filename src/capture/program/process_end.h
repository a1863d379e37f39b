// How a process ended, asked of the kernel in every way there is.
#pragma once

#include <sys/types.h>

#include <optional>

namespace batchlight::capture {

// The wait status of an ended process, as wait(2) gives it; it is not reaped. Nothing if its own
// parent reaped it and the kernel is older than 6.15 (PIDFD_GET_INFO).
std::optional<int> WaitStatusOf(pid_t pid, int pid_fd);

int OpenPidFd(pid_t pid);

}  // namespace batchlight::capture
