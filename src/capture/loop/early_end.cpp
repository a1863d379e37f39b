#include "capture/loop/early_end.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/contain.h"
#include "capture/loop/forced_end.h"

namespace batchlight::capture {
namespace {

constexpr int kCleanUpMs = 2000;

// With all threads, whichever call of the kernel they are in.
[[noreturn]] void Die(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  constexpr int kKilledBy = 128;
  _exit(kKilledBy + signal);  // a container's first process, which none of these ends
}

}  // namespace

EarlyEnd::EarlyEnd(const sigset_t& original_mask) {
  // As alone the program would, which has no handlers yet.
  const sigset_t set = EndingSignals(original_mask);
  signal_fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  finish_fd_ = eventfd(0, EFD_CLOEXEC);
  if (signal_fd_ < 0 || finish_fd_ < 0) return;
  (void)Contain("watching for signals", [this] {
    thread_ = std::thread([this] { Watch(); });
    return Status();
  });
}

bool EarlyEnd::LetProgramRun() {
  State expected = State::kWatching;
  return state_.compare_exchange_strong(expected, State::kOver);
}

int EarlyEnd::Finish() {
  if (thread_.joinable()) {
    eventfd_write(finish_fd_, 1);
    thread_.join();
  }
  for (int* fd : {&signal_fd_, &finish_fd_}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
  return signal_;
}

void EarlyEnd::Watch() {
  pollfd fds[] = {{.fd = finish_fd_, .events = POLLIN, .revents = 0},
                  {.fd = signal_fd_, .events = POLLIN, .revents = 0}};
  if (poll(fds, 2, -1) < 0 || fds[0].revents != 0) return;
  State expected = State::kWatching;
  if (!state_.compare_exchange_strong(expected, State::kAsked)) return;
  signalfd_siginfo info;
  if (read(signal_fd_, &info, sizeof info) != sizeof info) return;
  signal_ = static_cast<int>(info.ssi_signo);
  if (poll(fds, 1, kCleanUpMs) <= 0) Die(signal_);
}

}  // namespace batchlight::capture
