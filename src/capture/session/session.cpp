#include "capture/session/session.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "capture/loop/clock.h"
#include "capture/program/reap.h"
#include "capture/recording/live_folder.h"

namespace batchlight::capture {
namespace {

constexpr double kSayWaitingAfterS = 2;
constexpr double kMemoryLookS = 0.1;
constexpr uint32_t kMostCommandsAtOnce = 100;  // the program may write any number into the page

}  // namespace

Result<SessionEnd> Session::Run() {
  ASSIGN_OR_RETURN(std::optional<SessionEnd> failed, StartProgram());
  if (failed) return *failed;
  if (recording_->lies_in_memory()) memory_look_.Start(kMemoryLookS);
  while (!IsOver(life_)) {
    loop_.Wait(
        Timer::TimeoutMs({&delay_, &duration_, &say_waiting_, &stop_waiting_, &memory_look_}));
    CheckTimers();
  }
  return Finish();
}

void Session::Note(LifeEvent event) {
  const LifeFacts facts{
      .waits_for_children = options_.wait_all && children_left_,
      .waits_for_duration = !capture_.stop_on_exit && options_.duration_s > 0,
      .ends_program = options_.kill_signal != 0,
  };
  const Life before = std::exchange(life_, Next(life_, event, facts));
  if (WaitsAfterProgram(life_) && !WaitsAfterProgram(before)) {
    say_waiting_.Start(kSayWaitingAfterS);
    if (signals_.asked_to_end()) stop_waiting_.Start(SignalRelay::kEndWithinS);
  } else if (!WaitsAfterProgram(life_)) {
    say_waiting_.Stop();
    stop_waiting_.Stop();
  }
  if (!MayCollect(life_)) {
    delay_.Stop();
    duration_.Stop();
  }
}

void Session::Note(CollectionEvent event) {
  collection_ = Next(collection_, event);
  if (collection_ != Collection::kDelayed) delay_.Stop();
  const bool times = collection_ == Collection::kOn && MayCollect(life_);
  if (times && options_.duration_s > 0 && !duration_.running()) {
    duration_.Start(options_.duration_s);
  }
}

void Session::CheckTimers() {
  if (delay_.Due()) BeginCapture();
  if (memory_look_.Due()) {
    recording_->FollowMemory();
    memory_look_.Start(kMemoryLookS);
  }
  if (duration_.Due()) End("the duration is over");
  if (stop_waiting_.Due()) {
    notice_("the job was asked to end; what the program left running goes on, unrecorded");
    Note(LifeEvent::kInterrupted);
  }
  if (say_waiting_.Due()) {
    notice_(
        "the program has ended; waiting for processes that it left running. Ctrl-C stops "
        "waiting, --wait=primary never waits");
  }
}

void Session::BeginCapture() {
  recording_->StartCapture();
  if (program_start_ns_ != 0) NoteCaptures();
  Note(CollectionEvent::kStarted);
}

void Session::ControlChanged() {
  if (const std::string why = recording_->StopIfFull(); !why.empty()) notice_(why);
  recording_->FollowProcesses();
  FollowWithSamplers();
  NoteCaptures();
  FollowControlPage();
  if (capture_.trigger == format::CaptureTrigger::kNone) return;
  if (recording_->control().collecting() || recording_->is_full()) return;
  const uint32_t done = recording_->captures_done() - first_capture_;
  const bool last = (capture_.range_end == RangeEnd::kStopShutdown && done >= 1) ||
                    (capture_.range_end == RangeEnd::kRepeatShutdown && done >= capture_.repeat);
  if (last) End("the capture range has ended");
}

void Session::FollowWithSamplers() {
  const Control& control = recording_->control();
  if (cpu_) cpu_->SetCapture(control.capture_index(), control.collecting());
  if (timer_sampler_) timer_sampler_->SetCapture(control.capture_index());
  if (python_sampler_) {
    python_sampler_->SetCapture(control.capture_index(), control.collecting());
  }
  if (usage_) usage_->SetCapture(control.capture_index(), control.collecting());
}

void Session::FollowControlPage() {
  if (recording_->control().collecting()) {
    Note(CollectionEvent::kBegan);
  } else if (recording_->captures_done() > first_capture_) {
    Note(CollectionEvent::kEnded);
  }
}

void Session::NoteCaptures() {
  const uint32_t begun = recording_->captures_done() + (recording_->control().collecting() ? 1 : 0);
  // Windows of steps are parts of one capture.
  const bool windows = capture_.trigger == format::CaptureTrigger::kSteps;
  // Several may have begun since the last look: captures can be short, and machines busy.
  uint32_t commands = begun > captures_noted_ ? begun - captures_noted_ : 0;
  if (windows && captures_noted_ > 0) commands = 0;
  commands = std::min(commands, windows ? 1u : kMostCommandsAtOnce);
  for (; commands > 0; --commands) {
    commands_->Start(kAfterCollectionStart, capture_.after_start, output_ + kRecordingSuffix);
  }
  captures_noted_ = std::max(captures_noted_, begun);
}

void Session::Reap() {
  if (usage_) usage_->LookIfDue();  // an ended process tells what it used until it is waited for
  const auto changes = [this](const siginfo_t& child) { signals_.NoteEnd(child); };
  children_left_ = ReapChildren(changes, [this](pid_t pid, int status, uint64_t peak_bytes) {
    if (WIFSTOPPED(status)) {
      if (pid == program_pid_) signals_.ProgramStopped(WSTOPSIG(status));
      return;
    }
    if (commands_->NoteEnd(pid, status)) return;
    if (gpu_sampler_ && gpu_sampler_->NoteEnd(pid)) return;
    processes_->NoteWaitStatus(pid, status);
    if (pid != program_pid_) return;
    // No less is known of it: its first memory was a copy of ours.
    if (peak_bytes > OwnPeakBytes()) program_peak_bytes_ = peak_bytes;
    ProgramEnded(status);
  });
  Note(LifeEvent::kReaped);
}

void Session::ProgramEnded(int wait_status) {
  wait_status_ = wait_status;
  gpu_sampler_.reset();
  end_.wall_ns = MonotonicNow() - program_start_ns_;
  const bool had_terminal = signals_.ProgramEnded([this] { Note(LifeEvent::kInterrupted); });
  end_.interrupted = had_terminal && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGINT;
  end_.others_know = signals_.others_know();
  Note(LifeEvent::kProgramEnded);
}

void Session::End(const std::string& why) {
  const Life before = life_;
  Note(LifeEvent::kSessionEnded);
  if (life_ == before) return;  // it has ended already
  recording_->StopCapture();
  if (life_ == Life::kEnding) {
    notice_(why + ": ending the program with signal " + std::to_string(options_.kill_signal) +
            " (" + strsignal(options_.kill_signal) + "), as --kill asks");
    signals_.SignalAll(options_.kill_signal);
  } else if (life_ == Life::kLeftRunning) {
    notice_(why + ": process " + std::to_string(program_pid_) + " keeps running, unrecorded");
  }
}

}  // namespace batchlight::capture
