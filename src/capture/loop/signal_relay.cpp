#include "capture/loop/signal_relay.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

constexpr int kPassedOn[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGTSTP,
                             SIGCONT, SIGUSR1, SIGUSR2, SIGWINCH};

sigset_t HandledSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kPassedOn) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  return set;
}

}  // namespace

SignalRelay::~SignalRelay() {
  if (fd_ < 0) return;
  terminal_.TakeBack(program_);
  loop_.Remove(fd_);
  close(fd_);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

void SignalRelay::Block() {
  sigset_t set = HandledSignals();
  sigaddset(&set, SIGTTOU);  // moving the terminal's foreground from the background
  sigprocmask(SIG_BLOCK, &set, &original_mask_);
}

Status SignalRelay::Open(pid_t program, std::function<void()> child_changed) {
  const sigset_t set = HandledSignals();
  fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd_ < 0) return OutputError(std::string("signalfd: ") + std::strerror(errno));
  program_ = program;
  child_changed_ = std::move(child_changed);
  loop_.Add(fd_, [this] { ReadSignals(); });
  terminal_.Lend(program);
  return {};
}

void SignalRelay::ReadSignals() {
  signalfd_siginfo info;
  while (read(fd_, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) {
      child_changed_();
    } else if (interrupted_ != nullptr) {
      if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) interrupted_();
    } else if (signal == SIGTSTP || signal == SIGCONT || signal == SIGWINCH) {
      kill(-program_, signal);  // these are for the whole job
    } else {
      if (signal == SIGTERM || signal == SIGHUP) asked_to_end_ns_ = MonotonicNow();
      kill(program_, signal);
    }
  }
}

bool SignalRelay::asked_to_end() const {
  constexpr int64_t kAgoNs = 60'000'000'000;
  return asked_to_end_ns_ != 0 && MonotonicNow() - asked_to_end_ns_ < kAgoNs;
}

bool SignalRelay::ProgramEnded(std::function<void()> interrupted) {
  interrupted_ = std::move(interrupted);
  return terminal_.TakeBack(program_);
}

void SignalRelay::ProgramStopped(int stop_signal) {
  const bool by_terminal =
      stop_signal == SIGTSTP || stop_signal == SIGTTIN || stop_signal == SIGTTOU;
  // Without a terminal nobody would continue the tool: whoever stopped the program continues it.
  if (!terminal_.present() || !by_terminal) return;
  terminal_.TakeBack(program_);
  kill(0, stop_signal);  // the rest of the shell's job, as the terminal would have done
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, stop_signal);
  sigset_t before;
  sigprocmask(SIG_UNBLOCK, &only, &before);  // the tool stops here until it is continued
  sigprocmask(SIG_SETMASK, &before, nullptr);
  terminal_.Lend(program_);
  kill(-program_, SIGCONT);
}

}  // namespace batchlight::capture
