#include "capture/loop/signal_witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
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

struct Sides {
  pid_t tool;
  pid_t program;
};

// proc(5): "PID (name) state ...". By system calls alone.
bool IsStopped(pid_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[256];
  const ssize_t count = read(fd, text, sizeof text);
  close(fd);
  const std::string_view line(text, count > 0 ? static_cast<size_t>(count) : 0);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos || line.size() < name_end + 3) return false;
  return line[name_end + 2] == 'T' || line[name_end + 2] == 't';
}

// Of the tool, which stopped because the program did.
void WakeIfProgramGoesOn(const Sides& sides) {
  if (!IsStopped(sides.program) && IsStopped(sides.tool)) kill(sides.tool, SIGCONT);
}

// Nobody but its parent is told that a process goes on; that it ended everybody may see at once: a
// shell that sees that its others ended takes a tool that is stopped yet for a stopped job.
void WaitAMoment(int& program) {
  constexpr int kLookMs = 10;
  pollfd ends{.fd = program, .events = POLLIN, .revents = 0};
  if (poll(&ends, 1, kLookMs) > 0) program = -1;  // once
}

// The witness's side: system calls alone, as the tool may have threads.
[[noreturn]] void Witness(const Sides& sides, pid_t group, int report, const OwnLine& line) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  if (group == SignalWitness::kOwnSession) {
    setsid();
  } else {
    setpgid(0, group);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != sides.tool) _exit(0);
  // Neither `killall python` nor `pkill -f batchlight` means it.
  prctl(PR_SET_NAME, kName);
  line.Show(kName);
  dup2(report, STDIN_FILENO);
  CloseAllFrom(STDIN_FILENO + 1);
  int program = static_cast<int>(syscall(SYS_pidfd_open, sides.program, 0));
  bool wakes = false;
  while (true) {
    siginfo_t info;
    const timespec now{};
    if (wakes) {
      WaitAMoment(program);
      WakeIfProgramGoesOn(sides);
    }
    const int signal = wakes ? sigtimedwait(&all, &info, &now) : sigwaitinfo(&all, &info);
    if (signal < 0) continue;
    if (info.si_pid == sides.tool) {
      if (info.si_code == SI_QUEUE) wakes = info.si_value.sival_int != 0;
      continue;
    }
    const auto number = static_cast<uint8_t>(signal);
    if (write(STDIN_FILENO, &number, 1) != 1) _exit(0);
    // A program that signals its own group all the time does not keep the tool busy.
    const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

void SignalWitness::Start(pid_t program, pid_t group, const OwnLine& line) {
  int ends[2];
  if (!line.known() || pipe2(ends, O_CLOEXEC) != 0) return;
  const Sides sides{getpid(), program};
  // No signal tells of its end and no wait() for any child finds it: it is none of the job's.
  pid_ = static_cast<pid_t>(syscall(SYS_clone, 0, 0, 0, 0, 0));
  if (pid_ == 0) Witness(sides, group, ends[1], line);
  close(ends[1]);
  if (pid_ < 0) {
    close(ends[0]);
    return;
  }
  if (group != kOwnSession) setpgid(pid_, group);
  fd_ = ends[0];
  fcntl(fd_, F_SETFL, O_NONBLOCK);
}

void SignalWitness::WakeTool(bool wakes) const {
  sigqueue(pid_, SIGRTMIN, sigval{.sival_int = wakes ? 1 : 0});
}

void SignalWitness::Listen(int64_t now_ns) {
  uint8_t signals[256];
  for (ssize_t count; fd_ >= 0 && (count = read(fd_, signals, sizeof signals)) >= 0;) {
    for (ssize_t i = 0; i < count; ++i) seen_.push_back({signals[i], now_ns});
    if (count == 0) End();  // somebody killed it
  }
}

bool SignalWitness::TakeReport(int signal, int64_t since_ns) {
  std::erase_if(seen_, [&](const Seen& seen) { return seen.at_ns < since_ns; });
  const auto is_same = [&](const Seen& seen) { return seen.signal == signal; };
  const auto found = std::find_if(seen_.begin(), seen_.end(), is_same);
  if (found == seen_.end()) return fd_ >= 0 && IsPending(pid_, signal);
  seen_.erase(found);
  return true;
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
