#include "capture/program/reap.h"

#include <sys/wait.h>

#include <cerrno>

namespace batchlight::capture {

bool ReapChildren(const std::function<void(pid_t pid, int wait_status)>& changed) {
  while (true) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return pid == 0;  // otherwise ECHILD
    changed(pid, status);
  }
}

}  // namespace batchlight::capture
