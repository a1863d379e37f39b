// Who started a process.
#pragma once

#include <sys/types.h>

namespace batchlight::capture {

// Whether `ancestor` is among the parents of the process, as they are now: an orphan's is who took
// it in. False too where the kernel does not say it.
bool DescendsFrom(pid_t pid, pid_t ancestor);

}  // namespace batchlight::capture
