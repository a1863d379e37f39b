#include "capture/loop/signal_rescue.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "base/contain.h"
#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

// The loop takes a signal within a millisecond. What it does in between, such as writing a log, is
// over long before this.
constexpr int kLookMs = 100;
constexpr int kLooks = 10;

// What people and batch systems send to a program. The others stay for the loop: SIGCHLD is its
// own.
sigset_t Sent() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGABRT, SIGALRM}) {
    sigaddset(&set, signal);
  }
  return set;
}

bool AnyIsPending(const sigset_t& set) {
  sigset_t pending;
  sigpending(&pending);
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    if (sigismember(&set, signal) == 1 && sigismember(&pending, signal) == 1) return true;
  }
  return false;
}

}  // namespace

void SignalRescue::Start(int signal_fd, std::function<void()> held_up, PassOn pass_on) {
  held_up_ = std::move(held_up);
  pass_on_ = std::move(pass_on);
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  if (stop_fd_ < 0) return;
  (void)Contain("a thread", [&] {
    thread_ = std::thread([this, signal_fd] { Run(signal_fd); });
    return Status();
  });
}

void SignalRescue::Stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    (void)!write(stop_fd_, &one, sizeof one);
    thread_.join();
  }
  if (stop_fd_ >= 0) close(std::exchange(stop_fd_, -1));
}

void SignalRescue::Run(int signal_fd) {
  const sigset_t sent = Sent();
  while (true) {
    pollfd fds[] = {{.fd = signal_fd, .events = POLLIN, .revents = 0},
                    {.fd = stop_fd_, .events = POLLIN, .revents = 0}};
    poll(fds, 2, -1);
    if (fds[1].revents != 0) return;
    if (!IsLeftWaiting(signal_fd)) continue;
    held_up_();
    siginfo_t info;
    const timespec now{};
    while (sigtimedwait(&sent, &info, &now) > 0) pass_on_(info);
  }
}

// Time in which the tool was stopped as a whole does not count.
bool SignalRescue::IsLeftWaiting(int signal_fd) const {
  sigset_t looked_for = Sent();
  sigaddset(&looked_for, SIGCHLD);
  for (int look = 0; look < kLooks; ++look) {
    const int64_t from_ns = MonotonicNow();
    pollfd stop{.fd = stop_fd_, .events = POLLIN, .revents = 0};
    if (poll(&stop, 1, kLookMs) > 0) return false;
    pollfd signals{.fd = signal_fd, .events = POLLIN, .revents = 0};
    if (poll(&signals, 1, 0) == 0 || !AnyIsPending(looked_for)) return false;
    if (MonotonicNow() - from_ns > 3 * int64_t{kLookMs} * 1'000'000) look = -1;
  }
  return true;
}

}  // namespace batchlight::capture
