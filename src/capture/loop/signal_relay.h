// Passes signals sent to the tool on to the program, and stops and continues with it, so that the
// tool's process stands for the program's. One that was sent to both reaches the program once: each
// waits a moment for the witness to say whether the program got it itself. What the program and its
// children send to the tool as their parent goes to the tool's.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "base/status.h"
#include "capture/loop/event_loop.h"
#include "capture/loop/key_relay.h"
#include "capture/loop/signal_rescue.h"
#include "capture/loop/signal_witness.h"
#include "capture/loop/terminal.h"

namespace batchlight::capture {

class SignalRelay {
 public:
  // For what a program that was asked to end leaves running: to save, and to end by itself. Batch
  // systems kill what takes longer than half a minute.
  static constexpr double kEndWithinS = 10;

  explicit SignalRelay(EventLoop& loop) : loop_(loop) {}
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  // Takes the terminal back and restores the signal mask.
  ~SignalRelay();

  // Blocks the signals that are passed on, and looks who is beside the tool. Before the program is
  // forked, and before any thread. `apart`: the program gets a session of its own, and nothing of
  // the terminal that it could read from or type into: it may be hostile.
  void Block(bool apart);
  // The mask before Block(): the program's.
  const sigset_t& original_mask() const { return original_mask_; }
  // Whether the program is to stay in the tool's process group: in a terminal, where the group has
  // others. `profile train.py | less`: the reader needs the foreground as well, and that is one
  // group's. What the kernel sends to the group reaches the program then.
  bool shares_group() const { return shares_group_; }
  bool apart() const { return apart_; }
  // Whether those of the tool's group have got what the kernel sent to the program.
  bool others_know() const { return shares_group_ || apart_; }
  // What takes the place of the program's standard input; -1: nothing.
  int program_input() const { return keys_ ? keys_->program_end() : -1; }

  // Starts to pass signals to process (and group) `program`, and takes its words out of the tool's
  // command line. `child_changed` is called when a child of the tool may have ended or stopped;
  // `ends_next`, by a thread of its own, when the loop was left waiting by what asks to end and the
  // program has ended: what does so once more ends the tool.
  Status Open(pid_t program, std::function<void()> child_changed, std::function<void()> ends_next);
  // Lends it the terminal. Right before it is executed: until then keys are the tool's.
  void LendTerminal();
  // While it is being executed, which takes long: what came and asks to end it ends it.
  void EndIfAsked() const;

  // Sends it to the program's group, and lets go on what is stopped. Where the group has others: to
  // the program and those of the group that descend from it.
  void SignalAll(int signal) const;

  // A child that has ended and is not waited for yet: if it is the program, nothing is passed on to
  // it from here on.
  void NoteEnd(const siginfo_t& child);
  // From now on what asks a process to end calls `interrupted` instead. Takes the terminal back;
  // returns whether the program had the foreground.
  bool ProgramEnded(std::function<void()> interrupted);
  // Whether SIGTERM or SIGHUP came for the program within the last minute: somebody wants the whole
  // job to end. A server that reads its settings anew for one is long past it.
  bool asked_to_end() const;
  // The program was stopped by `stop_signal`: the tool stops as well, so that its starter sees it,
  // and each continues when the other does.
  void ProgramStopped(int stop_signal);

 private:
  struct Waiting {
    int signal;
    bool for_starter;  // not the program
    bool by_kernel;
    int64_t since_ns;
    std::optional<sigval> value;  // of sigqueue()
  };

  static std::optional<siginfo_t> Stop(int stop_signal, bool whole_job);
  bool IsForTheStarter(int code, pid_t sender) const;
  void ReadSignals();
  void NoteIfItEnds(const Waiting& waiting);
  void Hold(const Waiting& waiting);
  void HearWitness();
  void PassOnWhatIsDue();
  void PassOn(const Waiting& waiting);
  void Rescue(const siginfo_t& info);
  void LookForEnd();
  void LookHeldUp();
  void Ended(int exit_code);
  bool TakeAsk();
  bool HasEnded();
  void EndHeldUp(int signal);
  bool WitnessTells(const Waiting& waiting);

  EventLoop& loop_;
  Terminal terminal_;
  sigset_t original_mask_{};
  int fd_ = -1;
  int timer_fd_ = -1;
  SignalWitness witness_;
  SignalRescue rescue_;
  std::mutex end_;                          // held while the rescuer passes on
  std::optional<int> exit_code_;            // of the program, once it has ended; with end_
  int asked_by_ = 0;                        // a signal, of the rescuer
  std::atomic<bool> had_terminal_ = false;  // the program, when it was found to have ended
  std::function<void()> ends_next_;
  std::deque<Waiting> waiting_;  // in the order of their arrival
  pid_t program_ = -1;
  bool shares_group_ = false;
  bool apart_ = false;
  std::optional<KeyRelay> keys_;     // where it is apart
  std::atomic<int> stopped_as_ = 0;  // the signal for which a program that is apart got SIGSTOP
  bool is_shells_job_ = false;
  pid_t starter_ = 0;                         // the tool's parent; 0: none in its namespace
  std::atomic<int64_t> asked_to_end_ns_ = 0;  // CLOCK_MONOTONIC; 0: never
  std::function<void()> child_changed_;
  std::function<void()> interrupted_;
};

}  // namespace batchlight::capture
