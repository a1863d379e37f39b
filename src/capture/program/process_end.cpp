#include "capture/program/process_end.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace batchlight::capture {
namespace {

// Linux's struct pidfd_info, first version (64 bytes), and its request: linux/pidfd.h, which
// Debian 12 does not have.
struct PidFdInfo {
  uint64_t mask;
  uint64_t cgroup_id;
  uint32_t ids[11];
  int32_t exit_code;
};
static_assert(sizeof(PidFdInfo) == 64);
constexpr unsigned long kPidFdGetInfo = _IOWR(0xff, 11, PidFdInfo);
constexpr uint64_t kPidFdInfoExit = 1u << 3;

std::optional<int> AskAsParent(int pid_fd) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid_fd);
  if (waitid(P_PIDFD, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return std::nullopt;
  }
  if (info.si_code == CLD_EXITED) return W_EXITCODE(info.si_status & 0xff, 0);
  return W_EXITCODE(0, info.si_status) | (info.si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

// After the process has been reaped.
std::optional<int> AskPidFd(int pid_fd) {
  PidFdInfo info{};
  info.mask = kPidFdInfoExit;
  if (ioctl(pid_fd, kPidFdGetInfo, &info) != 0 || (info.mask & kPidFdInfoExit) == 0) {
    return std::nullopt;
  }
  return info.exit_code;
}

// While it is a zombie: the last field but none of /proc/PID/stat (proc(5): 3 state, 52 exit_code).
std::optional<int> AskProc(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  char text[2048];
  const ssize_t count = read(fd, text, sizeof text - 1);
  close(fd);
  if (count <= 0) return std::nullopt;
  text[count] = '\0';
  const char* state = std::strrchr(text, ')');  // the name before it may hold anything
  const char* last = std::strrchr(text, ' ');
  if (state == nullptr || last == nullptr || last < state || state[2] != 'Z') return std::nullopt;
  return std::atoi(last + 1);
}

}  // namespace

std::optional<int> WaitStatusOf(pid_t pid, int pid_fd) {
  if (const auto status = AskAsParent(pid_fd)) return status;
  if (const auto status = AskPidFd(pid_fd)) return status;
  if (const auto status = AskProc(pid)) return status;
  return AskPidFd(pid_fd);  // reaped between the two
}

int OpenPidFd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

}  // namespace batchlight::capture
