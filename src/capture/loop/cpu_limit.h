// The limit of the tool's own processor time (`ulimit -t`), which counts what it does for all
// processes of the program. The soft one is not the tool's; one second before the hard one, where
// the kernel would kill it, it ends by itself, with the exit code of the program.
#pragma once

namespace batchlight::capture {

// Raises the soft limit. Once the program has its own.
void RaiseCpuLimit();

// From here on the tool ends with `exit_code` when its time is nearly used up, and says
// `what_stays` (which must stay) in front of it. For the calling thread, which must be the last of
// those that have signals blocked.
void EndAtCpuLimit(int exit_code, const char* what_stays);

}  // namespace batchlight::capture
