#include "capture/program/reap.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>

namespace batchlight::capture {

namespace {

uint64_t PeakBytes(const rusage& used) { return uint64_t(used.ru_maxrss) * 1024; }

}  // namespace

bool ReapChildren(const ChildChanged& changed) {
  while (true) {
    int status = 0;
    rusage used{};
    const pid_t pid = wait4(-1, &status, WNOHANG | WUNTRACED, &used);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return pid == 0;  // otherwise ECHILD
    changed(pid, status, PeakBytes(used));
  }
}

uint64_t OwnPeakBytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return PeakBytes(used);
}

}  // namespace batchlight::capture
