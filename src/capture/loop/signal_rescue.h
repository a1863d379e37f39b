// Takes signals that the loop leaves waiting: it may be held up for good by a file system that does
// not answer, and whoever asks the program to end must reach it all the same.
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

namespace batchlight::capture {

class SignalRescue {
 public:
  using PassOn = std::function<void(const siginfo_t& info)>;  // in a thread of its own

  SignalRescue() = default;
  SignalRescue(const SignalRescue&) = delete;
  SignalRescue& operator=(const SignalRescue&) = delete;
  ~SignalRescue() { Stop(); }

  // `signal_fd`: a signalfd that the loop reads. `held_up` is called about once a second while the
  // loop leaves something waiting, SIGCHLD too, before `pass_on`. Without a thread nothing is
  // rescued.
  void Start(int signal_fd, std::function<void()> held_up, PassOn pass_on);
  // Waits for a call of `pass_on` that goes on.
  void Stop();

 private:
  void Run(int signal_fd);
  bool IsLeftWaiting(int signal_fd) const;

  std::function<void()> held_up_;
  PassOn pass_on_;
  int stop_fd_ = -1;
  std::thread thread_;
};

}  // namespace batchlight::capture
