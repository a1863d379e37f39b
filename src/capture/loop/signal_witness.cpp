#include "capture/loop/signal_witness.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

namespace batchlight::capture {
namespace {

void CloseAllFrom(int first) {
  constexpr int kMostOfOldKernels = 4096;
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  for (int fd = first; fd < kMostOfOldKernels; ++fd) close(fd);
}

constexpr char kName[] = "signal-witness";

bool IsPending(pid_t pid, int signal) {
  constexpr std::string_view kPending = "ShdPnd:";
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kPending)) continue;
    return (std::strtoull(line.c_str() + kPending.size(), nullptr, 16) >> (signal - 1) & 1) != 0;
  }
  return false;
}

// The witness's side: system calls alone, as the tool may have threads.
[[noreturn]] void Witness(pid_t tool, pid_t group, int report, const OwnLine& line) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setpgid(0, group);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != tool) _exit(0);
  // Neither `killall python` nor `pkill -f batchlight` means it.
  prctl(PR_SET_NAME, kName);
  line.Show(kName);
  dup2(report, STDIN_FILENO);
  CloseAllFrom(STDIN_FILENO + 1);
  while (true) {
    const int signal = sigwaitinfo(&all, nullptr);
    if (signal < 0) continue;
    const auto number = static_cast<uint8_t>(signal);
    if (write(STDIN_FILENO, &number, 1) != 1) _exit(0);
    // A program that signals its own group all the time does not keep the tool busy.
    const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

void SignalWitness::Start(pid_t group, const OwnLine& line) {
  int ends[2];
  if (!line.known() || pipe2(ends, O_CLOEXEC) != 0) return;
  const pid_t tool = getpid();
  // No signal tells of its end and no wait() for any child finds it: it is none of the job's.
  pid_ = static_cast<pid_t>(syscall(SYS_clone, 0, 0, 0, 0, 0));
  if (pid_ == 0) Witness(tool, group, ends[1], line);
  close(ends[1]);
  if (pid_ < 0) {
    close(ends[0]);
    return;
  }
  setpgid(pid_, group);
  fd_ = ends[0];
  fcntl(fd_, F_SETFL, O_NONBLOCK);
}

void SignalWitness::Listen(int64_t now_ns) {
  uint8_t signals[256];
  for (ssize_t count; fd_ >= 0 && (count = read(fd_, signals, sizeof signals)) >= 0;) {
    for (ssize_t i = 0; i < count; ++i) {
      if (signals[i] < _NSIG) seen_ns_[signals[i]] = now_ns;
    }
    if (count == 0) End();  // somebody killed it
  }
}

bool SignalWitness::Saw(int signal, int64_t since_ns) const {
  return seen_ns_[signal] >= since_ns || (fd_ >= 0 && IsPending(pid_, signal));
}

void SignalWitness::End() {
  if (fd_ < 0) return;
  close(fd_);
  fd_ = -1;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

}  // namespace batchlight::capture
