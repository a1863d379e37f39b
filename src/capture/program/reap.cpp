#include "capture/program/reap.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>

namespace batchlight::capture {

namespace {

uint64_t PeakBytes(const rusage& used) { return uint64_t(used.ru_maxrss) * 1024; }

}  // namespace

bool ReapChildren(const std::function<void(const siginfo_t&)>& changes,
                  const ChildChanged& changed) {
  while (true) {
    siginfo_t child{};
    const int found = waitid(P_ALL, 0, &child, WEXITED | WSTOPPED | WNOHANG | WNOWAIT);
    if (found < 0 && errno == EINTR) continue;
    if (found < 0) return false;  // ECHILD
    if (child.si_pid == 0) return true;
    changes(child);
    int status = 0;
    rusage used{};
    const pid_t pid = wait4(child.si_pid, &status, WNOHANG | WUNTRACED, &used);
    if (pid > 0) changed(pid, status, PeakBytes(used));
  }
}

uint64_t OwnPeakBytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return PeakBytes(used);
}

}  // namespace batchlight::capture
