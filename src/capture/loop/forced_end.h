// The end of a tool that waits for a file system which may never answer.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>

namespace batchlight::capture {

// What ends a program without handlers, if its starter neither ignores it nor blocked it in
// `original_mask`.
sigset_t EndingSignals(const sigset_t& original_mask);

// The wait status of a process that has ended but for what the kernel has yet to write for it,
// which it may wait for without an end.
std::optional<int> StatusOfEnding(pid_t pid);

// Ends the tool with its threads, other than exit() and SIGKILL also where its files have something
// to be written yet: the kernel waits for that in whoever lets go of them last.
[[noreturn]] void EndAtOnce(int exit_code);

}  // namespace batchlight::capture
