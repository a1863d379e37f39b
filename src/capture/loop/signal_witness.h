// Tells whether a signal that the tool got was sent to the program as well. `scancel`, `pkill -f`,
// `systemctl stop` signal every process of a job: passed on, such a signal would reach the program
// twice. Nothing in a signal says who else got it, so a small process stands beside the program, in
// its session, control group and, where it may, process group, blocks all signals, and reports the
// ones that it gets: whoever reaches it reached the program. Who goes by the command line reaches
// the tool by nothing that is the program's, and it by neither's: OwnLine.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "capture/loop/own_line.h"

namespace batchlight::capture {

class SignalWitness {
 public:
  SignalWitness() = default;
  SignalWitness(const SignalWitness&) = delete;
  SignalWitness& operator=(const SignalWitness&) = delete;
  ~SignalWitness() { End(); }

  static constexpr pid_t kOwnSession = -1;
  // `group`: 0: one of its own; kOwnSession, where the program has one. Without room for a process
  // there is no witness, and it saw nothing. It ends with this thread.
  void Start(pid_t program, pid_t group, const OwnLine& line);
  // Whether it continues the tool, should that be stopped, once the program goes on or is gone.
  void WakeTool(bool wakes) const;
  // Reads what it has reported. CLOCK_MONOTONIC.
  void Listen(int64_t now_ns);
  // Whether it got the signal then, also if it has had no processor yet to report it. Each of its
  // reports answers for one signal.
  bool TakeReport(int signal, int64_t since_ns);
  void End();

  // Becomes readable when there is something to Listen() to. -1: no witness.
  int fd() const { return fd_; }
  pid_t pid() const { return pid_; }

 private:
  struct Seen {
    int signal;
    int64_t at_ns;
  };

  pid_t pid_ = -1;
  int fd_ = -1;
  std::vector<Seen> seen_;  // in the order of their arrival
};

}  // namespace batchlight::capture
