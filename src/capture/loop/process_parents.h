// Who started a process, and who is beside it.
#pragma once

#include <sys/types.h>

#include <vector>

namespace batchlight::capture {

// Whether `ancestor` is among the parents of the process, as they are now: an orphan's is who took
// it in. False too where the kernel does not say it.
bool DescendsFrom(pid_t pid, pid_t ancestor);

// Those of the group `group` that descend from `ancestor` now, as DescendsFrom() tells.
std::vector<pid_t> DescendantsOf(pid_t ancestor, pid_t group);

// Whether somebody else is in this process's group, whom whoever started it started beside it: the
// other end of a pipe, a script's helper.
bool SharesItsGroup();

}  // namespace batchlight::capture
