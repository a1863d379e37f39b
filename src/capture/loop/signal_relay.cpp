#include "capture/loop/signal_relay.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/child.h"
#include "base/contain.h"
#include "capture/loop/clock.h"
#include "capture/loop/forced_end.h"
#include "capture/loop/process_parents.h"

namespace batchlight::capture {
namespace {

// For the witness's report: whoever signals several processes does it within a few milliseconds.
constexpr int64_t kHoldNs = 100'000'000;
// `timeout` signals a process and then its group: to one that had not run in between it is one.
constexpr int64_t kPendingNs = 20'000'000;

// All that a process can be sent, but for SIGBUS: that is the tool's own where a mapped file was
// cut short. What its own faults raise ends the tool as ever, blocked or not.
sigset_t HandledSignals() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : {SIGKILL, SIGSTOP, SIGBUS}) sigdelset(&set, signal);
  return set;
}

// SIGPIPE and SIGXFSZ of its own writing; SIGXCPU: the limit is each process's own, and the kernel
// tells the program when it has reached its. SIGCHLD of its own children.
bool IsTheToolsOwn(const signalfd_siginfo& info) {
  return info.ssi_pid == static_cast<uint32_t>(getpid()) ||
         (info.ssi_signo == SIGXCPU && info.ssi_code == SI_KERNEL) ||
         (info.ssi_signo == SIGCHLD && info.ssi_code > SI_USER);
}

bool AsksToEnd(int signal) {
  switch (signal) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGABRT:
    case SIGALRM:
    case SIGXCPU:
      return true;
  }
  return false;
}

}  // namespace

SignalRelay::~SignalRelay() {
  if (fd_ < 0) return;
  rescue_.Stop();
  if (!shares_group_) terminal_.TakeBack(program_);
  for (const int fd : {fd_, timer_fd_}) {
    loop_.Remove(fd);
    close(fd);
  }
  if (witness_.fd() >= 0) loop_.Remove(witness_.fd());
  if (asked_by_ != 0) raise(asked_by_);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

void SignalRelay::Block(bool apart) {
  // SIGTTOU also so that the terminal's foreground can be moved from the background.
  const sigset_t set = HandledSignals();
  sigprocmask(SIG_BLOCK, &set, &original_mask_);
  apart_ = apart;
  const bool has_others = terminal_.present() && SharesItsGroup();
  shares_group_ = has_others && !apart;
  if (apart) keys_.emplace(has_others);
}

Status SignalRelay::Open(pid_t program, std::function<void()> child_changed,
                         std::function<void()> ends_next) {
  const sigset_t set = HandledSignals();
  fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  timer_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd_ < 0 || timer_fd_ < 0) {
    return OutputError(std::string("signalfd, timerfd: ") + std::strerror(errno));
  }
  program_ = program;
  starter_ = getppid();
  child_changed_ = std::move(child_changed);
  ends_next_ = std::move(ends_next);
  loop_.Add(fd_, [this] { ReadSignals(); });
  loop_.Add(timer_fd_, [this] { PassOnWhatIsDue(); });
  // A program that a script started may begin a session (inject/entry/interpose_session.cpp), which
  // it cannot where another process is in its group. A shell's job leads its group and may not.
  const bool leads = getpgrp() == getpid();
  is_shells_job_ = leads && terminal_.present() && getsid(0) != getpid();
  // A program that looks whether it runs already (`pgrep -fc train.py`), or that is signalled by
  // its words, is to be found once. Flags may hold such words too: -o train.
  const OwnLine line;
  constexpr int kCommandWords = 2;  // batchlight profile
  line.Keep(kCommandWords);
  witness_.Start(program,
                 apart_          ? SignalWitness::kOwnSession
                 : shares_group_ ? getpgrp()
                 : leads         ? program
                                 : 0,
                 line);
  if (witness_.fd() >= 0) loop_.Add(witness_.fd(), [this] { HearWitness(); });
  rescue_.Start(
      fd_, [this] { LookHeldUp(); }, [this](const siginfo_t& info) { Rescue(info); });
  return {};
}

void SignalRelay::LendTerminal() {
  if (keys_) return keys_->Start();
  if (!shares_group_) terminal_.Lend(program_);
}

void SignalRelay::EndIfAsked() const {
  sigset_t waiting;
  sigpending(&waiting);
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    if (!AsksToEnd(signal) && signal != SIGQUIT) continue;
    if (sigismember(&waiting, signal) == 1) kill(program_, signal);
  }
}

// What such a process sends to its parent, or its parent's parent, is for whoever started the tool.
// Where that is nobody the tool is its container's first process, and stands for the program. One
// that has ended and was waited for in between is not known any more.
bool SignalRelay::IsForTheStarter(int code, pid_t sender) const {
  if (code == SI_KERNEL || sender == 0 || starter_ == 0) return false;
  return sender == program_ || getpgid(sender) == program_ || DescendsFrom(sender, program_);
}

void SignalRelay::ReadSignals() {
  signalfd_siginfo info;
  while (read(fd_, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) {
      LookForEnd();
      child_changed_();
    }
    if (IsTheToolsOwn(info)) continue;
    const bool for_starter = IsForTheStarter(info.ssi_code, static_cast<pid_t>(info.ssi_pid));
    if (interrupted_ != nullptr && !for_starter) {
      if (AsksToEnd(signal)) interrupted_();
    } else {
      Waiting waiting{signal, for_starter, info.ssi_code == SI_KERNEL, MonotonicNow(),
                      std::nullopt};
      if (info.ssi_code == SI_QUEUE)
        waiting.value = sigval{.sival_ptr = reinterpret_cast<void*>(info.ssi_ptr)};
      Hold(waiting);
    }
  }
}

void SignalRelay::NoteIfItEnds(const Waiting& waiting) {
  const bool asks_to_end = waiting.signal == SIGTERM || waiting.signal == SIGHUP;
  if (asks_to_end && !waiting.for_starter) asked_to_end_ns_ = waiting.since_ns;
}

// As pending signals do, those below the real-time ones that come together wait once.
void SignalRelay::Hold(const Waiting& waiting) {
  NoteIfItEnds(waiting);
  const auto is_same = [&](const Waiting& other) {
    return other.signal == waiting.signal && other.for_starter == waiting.for_starter &&
           waiting.since_ns - other.since_ns < kPendingNs;
  };
  if (waiting.signal < SIGRTMIN && std::any_of(waiting_.begin(), waiting_.end(), is_same)) return;
  if (waiting.by_kernel && shares_group_) return;  // the program has got it
  // It may have meant the group, whose starter, a shell, ends by it. No value goes to a group.
  if (waiting.for_starter && shares_group_ && witness_.fd() < 0 && !waiting.value) return;
  waiting_.push_back(waiting);
  PassOnWhatIsDue();
}

void SignalRelay::HearWitness() {
  const int fd = witness_.fd();
  witness_.Listen(MonotonicNow());
  if (witness_.fd() < 0) loop_.Remove(fd);
}

void SignalRelay::PassOnWhatIsDue() {
  uint64_t times;
  (void)!read(timer_fd_, &times, sizeof times);
  if (interrupted_ != nullptr && TakeAsk()) interrupted_();
  if (witness_.fd() >= 0) HearWitness();
  const int64_t now_ns = MonotonicNow();
  while (!waiting_.empty()) {
    const Waiting& first = waiting_.front();
    const int64_t left_ns = first.since_ns + kHoldNs - now_ns;
    if (witness_.fd() >= 0 && left_ns > 0) {
      const itimerspec due{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = left_ns}};
      timerfd_settime(timer_fd_, 0, &due, nullptr);
      return;
    }
    if (!witness_.TakeReport(first.signal, first.since_ns - kHoldNs)) PassOn(first);
    waiting_.pop_front();
  }
}

void SignalRelay::SignalAll(int signal) const {
  std::vector<pid_t> to{-program_};
  if (shares_group_) {
    to = DescendantsOf(program_, getpgrp());  // once it has ended they are nobody's
    to.insert(to.begin(), program_);          // first: it may start others for those that end
  }
  for (const int each : {signal, SIGCONT}) {
    for (const pid_t pid : to) kill(pid, each);
  }
}

void SignalRelay::PassOn(const Waiting& waiting) {
  const int signal = waiting.signal;
  // A shell sends these to its whole job, of which the tool alone is in the job's group. The kernel
  // stops the group of who reads the terminal in the background: of a pipe's other end.
  const bool by_terminal = signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
  const bool for_all =
      (apart_ && waiting.by_kernel) ||
      (is_shells_job_ && (signal == SIGTSTP || signal == SIGCONT || signal == SIGWINCH)) ||
      (waiting.by_kernel && (signal == SIGTTIN || signal == SIGTTOU));
  const pid_t to = waiting.for_starter ? starter_ : program_;
  // Its number may be another's by now.
  if (waiting.for_starter && getppid() != starter_) return;
  if (apart_ && by_terminal && !waiting.for_starter) {
    // Of another session than its parent's, it would not stop by what may be caught.
    stopped_as_ = signal;
    kill(-program_, SIGSTOP);
  } else if (waiting.value) {
    sigqueue(to, signal, *waiting.value);
  } else {
    kill(for_all && !waiting.for_starter && !shares_group_ ? -program_ : to, signal);
  }
}

// In a group that the program shares it may have meant the group (`kill 0`), and that would end a
// shell that started it: the witness has the time that it would have if the program ran on.
bool SignalRelay::WitnessTells(const Waiting& waiting) {
  const int64_t end_ns = waiting.since_ns + kHoldNs;
  while (true) {
    const int64_t now_ns = MonotonicNow();
    witness_.Listen(now_ns);
    if (witness_.TakeReport(waiting.signal, waiting.since_ns - kHoldNs)) return true;
    if (!shares_group_ || witness_.fd() < 0 || now_ns >= end_ns) return false;
    pollfd report{.fd = witness_.fd(), .events = POLLIN, .revents = 0};
    poll(&report, 1, static_cast<int>((end_ns - now_ns) / 1'000'000) + 1);
  }
}

bool SignalRelay::asked_to_end() const {
  constexpr int64_t kAgoNs = 60'000'000'000;
  const int64_t asked_ns = asked_to_end_ns_;
  return asked_ns != 0 && MonotonicNow() - asked_ns < kAgoNs;
}

// The loop is held up, and with it the witness's words: one that was sent to both comes twice.
void SignalRelay::Rescue(const siginfo_t& info) {
  const bool by_kernel = info.si_code == SI_KERNEL;
  if (info.si_pid == getpid()) return;
  Waiting waiting{info.si_signo, IsForTheStarter(info.si_code, info.si_pid), by_kernel,
                  MonotonicNow(), std::nullopt};
  NoteIfItEnds(waiting);
  if (info.si_code == SI_QUEUE) waiting.value = info.si_value;
  const std::lock_guard lock(end_);
  if (exit_code_ && !waiting.for_starter) return EndHeldUp(waiting.signal);
  if (by_kernel && shares_group_) return;  // the program has got it
  PassOn(waiting);
}

// What the loop does for an ended process, before it has waited for it too, may hold it up.
void SignalRelay::LookForEnd() {
  siginfo_t child{};
  if (HasEnded()) return;
  if (waitid(P_PID, static_cast<id_t>(program_), &child, WEXITED | WNOHANG | WNOWAIT) != 0) return;
  if (child.si_pid == program_) NoteEnd(child);
}

// The program may be held up as well, in its end.
void SignalRelay::LookHeldUp() {
  LookForEnd();
  if (HasEnded()) return;
  if (const std::optional<int> status = StatusOfEnding(program_)) Ended(ShellExitCode(*status));
}

void SignalRelay::NoteEnd(const siginfo_t& child) {
  if (child.si_pid != program_ || child.si_code == CLD_STOPPED) return;
  constexpr int kKilledBy = 128;
  Ended(child.si_status + (child.si_code == CLD_EXITED ? 0 : kKilledBy));
}

void SignalRelay::Ended(int exit_code) {
  const std::lock_guard lock(end_);
  exit_code_ = exit_code;
  // Keys are the tool's.
  if (keys_) keys_->Stop();
  if (!shares_group_ && terminal_.TakeBack(program_)) had_terminal_ = true;
}

// Whether the rescuer took what the loop would have taken for an interruption.
bool SignalRelay::TakeAsk() {
  const std::lock_guard lock(end_);
  return std::exchange(asked_by_, 0) != 0;
}

bool SignalRelay::HasEnded() {
  const std::lock_guard lock(end_);
  return exit_code_.has_value();
}

// Sealing takes its time, and who ends a job asks once: that ends it once it is sealed.
void SignalRelay::EndHeldUp(int signal) {
  const sigset_t ending = EndingSignals(original_mask_);
  if (sigismember(&ending, signal) == 0) return;
  if (std::exchange(asked_by_, signal) != 0) {
    EndAtOnce(*exit_code_ != 0 ? *exit_code_ : static_cast<int>(ErrorKind::kOutput));
  }
  const itimerspec now{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 1}};
  timerfd_settime(timer_fd_, 0, &now, nullptr);  // for a loop that runs on
  // Where the line goes may not answer either.
  (void)Contain("a thread", [this] {
    std::thread(ends_next_).detach();
    return Status();
  });
}

bool SignalRelay::ProgramEnded(std::function<void()> interrupted) {
  if (!HasEnded()) rescue_.Stop();  // it never ran
  interrupted_ = std::move(interrupted);
  for (const Waiting& waiting : waiting_) {
    if (waiting.for_starter && !WitnessTells(waiting)) PassOn(waiting);
  }
  waiting_.clear();
  const bool had_terminal =
      others_know() ? terminal_.InForeground() : terminal_.TakeBack(program_) || had_terminal_;
  if (witness_.fd() >= 0) loop_.Remove(witness_.fd());
  witness_.End();  // it maps what the tool does, and its end may wait for a file system
  return had_terminal;
}

void SignalRelay::ProgramStopped(int stop_signal) {
  const int stopped_as = stop_signal == SIGSTOP ? stopped_as_.exchange(0) : 0;
  if (stopped_as != 0) stop_signal = stopped_as;
  const bool by_terminal =
      stop_signal == SIGTSTP || stop_signal == SIGTTIN || stop_signal == SIGTTOU;
  const bool whole_job = terminal_.present() && by_terminal && !apart_;
  // Somebody may continue the program alone, and then nobody the tool.
  if (!whole_job && stopped_as == 0 && witness_.fd() < 0) return;
  witness_.WakeTool(true);
  if (!shares_group_) terminal_.TakeBack(program_);
  const std::optional<siginfo_t> continued = Stop(stop_signal, whole_job);
  LendTerminal();
  witness_.WakeTool(false);
  if (stopped_as != 0 || (whole_job && !shares_group_)) {
    kill(-program_, SIGCONT);
  } else if (!continued) {
    kill(program_, SIGCONT);  // alone it would not have stopped either: nobody's job
  } else if (continued->si_pid != witness_.pid()) {
    Hold({SIGCONT, IsForTheStarter(continued->si_code, continued->si_pid), false, MonotonicNow(),
          std::nullopt});
  }
}

// Until the tool is continued: by what. Nothing if the kernel lets it go on: SIGTSTP stops no
// process whose group is no job of a shell.
std::optional<siginfo_t> SignalRelay::Stop(int stop_signal, bool whole_job) {
  sigset_t only, before, cont;
  sigemptyset(&only);
  sigaddset(&only, stop_signal);
  if (whole_job) kill(0, stop_signal);  // the shell's, as the terminal would have done
  sigprocmask(SIG_UNBLOCK, &only, &before);
  if (!whole_job) raise(stop_signal);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  sigemptyset(&cont);
  sigaddset(&cont, SIGCONT);
  siginfo_t info;
  const timespec now{};
  if (sigtimedwait(&cont, &info, &now) < 0) return std::nullopt;
  return info;
}

}  // namespace batchlight::capture
