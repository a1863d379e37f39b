#include "capture/session.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "capture/find_program.h"
#include "capture/live_folder.h"
#include "capture/output_name.h"

namespace batchlight::capture {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int ExitCodeOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

// One descriptor per recorded process: jobs with thousands of workers exist.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

SessionEnd CannotStart(const FoundProgram& problem) {
  SessionEnd end;
  end.exit_code = problem.exit_code;
  end.problem = problem.problem;
  return end;
}

std::string SearchPath(const std::vector<std::string>& environment) {
  const char* path = FindVariable(environment, "PATH");
  return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

}  // namespace

Session::Session(SessionOptions options, Notice notice, Progress progress)
    : options_(std::move(options)),
      notice_(std::move(notice)),
      progress_(std::move(progress)),
      capture_(options_.capture),
      waits_for_start_(options_.wait_for_start) {}

Result<SessionEnd> Session::Run() {
  ASSIGN_OR_RETURN(std::optional<SessionEnd> failed, StartProgram());
  if (failed) return *failed;
  while (!Over()) {
    loop_.Wait(TimeoutMs());
    CheckTimers();
  }
  return Finish();
}

Result<std::optional<SessionEnd>> Session::StartProgram() {
  ASSIGN_OR_RETURN(const Install install, FindInstall());
  ASSIGN_OR_RETURN(PreloadPath preload, PreloadPath::Make(install.inject_library));
  preload_.emplace(std::move(preload));
  EnvironmentOptions wanted;
  wanted.inherit = options_.inherit_environment;
  wanted.variables = options_.variables;
  wanted.preload = preload_->path();
  wanted.cuda = (options_.trace & format::kTraceCuda) != 0;
  for (const std::string& line : ReplacedInjections(wanted)) notice_(line);
  std::vector<std::string> environment = MakeTargetEnvironment(wanted);
  if (options_.run_as) SetUserVariables(*options_.run_as, options_.variables, environment);
  const FoundProgram found = FindProgram(options_.command[0], SearchPath(environment));
  if (found.path.empty()) return std::optional(CannotStart(found));

  signals_.Block();
  ProgramSpec spec{found.path,           options_.command,         environment,
                   options_.show_output, signals_.original_mask(), options_.run_as};
  ASSIGN_OR_RETURN(Program program, Program::Fork(spec));
  program_pid_ = program.pid();
  RETURN_IF_ERROR(Prepare(program.pid(), install, environment));
  // Absolute: the program and its children may change their folder.
  char* folder = realpath(recording_->live_folder().c_str(), nullptr);
  const std::string variable = std::string(format::kSessionDirVariable) + "=" +
                               (folder != nullptr ? folder : recording_->live_folder().c_str());
  free(folder);
  program_start_ns_ = MonotonicNow();
  if (const StartFailure failure = program.Execute(variable); failure.error != 0) {
    waitpid(program.pid(), nullptr, 0);
    (void)RemoveLiveFolder(recording_->live_folder());
    return std::optional(CannotStart(ExplainStartFailure(found.path, failure)));
  }
  NoteCaptures();
  return std::optional<SessionEnd>();
}

Status Session::Prepare(pid_t pid, const Install& install,
                        const std::vector<std::string>& environment) {
  RaiseFileLimit();
  signal(SIGPIPE, SIG_IGN);
  RETURN_IF_ERROR(loop_.Open());
  RETURN_IF_ERROR(OpenRecording(pid, install, environment));
  if (options_.run_as) {
    Status given = GiveTo(*options_.run_as, recording_->live_folder(), install.inject_library);
    if (!given.ok()) {
      (void)RemoveLiveFolder(recording_->live_folder());
      return given;
    }
  }
  commands_.emplace(options_.session_name, notice_, signals_.original_mask());
  processes_.emplace(loop_, recording_->log());
  control_watch_.emplace(loop_, recording_->control());
  Status status = processes_->Open(recording_->live_folder());
  if (status.ok()) status = control_watch_->Open([this] { ControlChanged(); });
  // Orphans of the program come to the tool: how they end is known, and --wait=all can wait.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (status.ok()) status = signals_.Open(pid, [this] { ReapChildren(); });
  if (!status.ok()) {
    (void)RemoveLiveFolder(recording_->live_folder());
    return status;
  }
  const bool triggered =
      capture_.trigger != format::CaptureTrigger::kNone && !capture_.windows_start_open;
  if (waits_for_start_ || triggered) return {};
  if (options_.delay_s > 0) {
    start_at_ns_ = MonotonicNow() + static_cast<int64_t>(options_.delay_s * 1e9);
  } else {
    BeginCapture();
  }
  return {};
}

Status Session::OpenRecording(pid_t pid, const Install& install,
                              const std::vector<std::string>& environment) {
  const bool interactive = !options_.session_name.empty();
  if (interactive) {
    SessionCommands& commands = *this;
    server_.emplace(loop_, commands);
    RETURN_IF_ERROR(server_->Open(options_.session_name));
  }
  while (true) {
    std::string live_folder;
    if (waits_for_start_) {
      live_folder = options_.session_name + "-" + std::to_string(pid) + kLiveSuffix;
      if (access(".", W_OK) != 0) live_folder = "/tmp/" + live_folder;
    } else {
      RETURN_IF_ERROR(ChooseOutput(capture_, pid));
      live_folder = output_ + kLiveSuffix;
    }
    auto recording = Recording::Create(live_folder, options_, environment, install.python_folder);
    if (recording.ok()) {
      recording_.emplace(std::move(recording).value());
      return {};
    }
    // Another tool may have taken a name that was free a moment ago.
    const bool taken = !waits_for_start_ && capture_.output.empty() && FileExists(live_folder);
    if (!taken) return recording.status();
  }
}

Status Session::ChooseOutput(const CaptureOptions& options, pid_t pid) {
  if (options.output.empty()) {
    output_ = NextFreeName("report");
    return {};
  }
  ASSIGN_OR_RETURN(output_, ExpandOutputName(options.output, pid));
  return options.replace ? Status() : CheckOutputIsFree(output_, options.Several());
}

bool Session::Over() const {
  if (left_running_ || stop_waiting_) return true;
  if (!wait_status_) return false;
  if (!capture_.stop_on_exit && options_.duration_s > 0 && !ended_early_) return false;
  return !options_.wait_all || !children_left_;
}

int Session::TimeoutMs() const {
  int64_t next = INT64_MAX;
  for (const int64_t at : {start_at_ns_, stop_at_ns_, say_waiting_at_ns_}) {
    if (at != 0) next = std::min(next, at);
  }
  if (next == INT64_MAX) return -1;
  const int64_t left = next - MonotonicNow();
  return left <= 0 ? 0 : static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, 3'600'000));
}

void Session::CheckTimers() {
  const int64_t now = MonotonicNow();
  const auto due = [now](int64_t& at) {
    if (at == 0 || now < at) return false;
    at = 0;
    return true;
  };
  if (due(start_at_ns_)) BeginCapture();
  if (due(stop_at_ns_)) EndSession("the duration is over");
  if (due(say_waiting_at_ns_) && wait_status_ && !Over()) {
    notice_(
        "the program has ended; waiting for processes that it left running. Ctrl-C stops "
        "waiting, --wait=primary never waits");
  }
}

void Session::BeginCapture() {
  recording_->StartCapture();
  if (program_start_ns_ != 0) NoteCaptures();
  if (options_.duration_s > 0) {
    stop_at_ns_ = MonotonicNow() + static_cast<int64_t>(options_.duration_s * 1e9);
  }
}

void Session::ControlChanged() {
  recording_->FollowProcesses();
  NoteCaptures();
  Control& control = recording_->control();
  if (control.collecting() && options_.duration_s > 0 && stop_at_ns_ == 0 && !ended_early_) {
    stop_at_ns_ = MonotonicNow() + static_cast<int64_t>(options_.duration_s * 1e9);
  }
  if (capture_.trigger == format::CaptureTrigger::kNone || control.collecting()) return;
  const uint32_t done = recording_->captures_done() - first_capture_;
  const bool last = (capture_.range_end == RangeEnd::kStopShutdown && done >= 1) ||
                    (capture_.range_end == RangeEnd::kRepeatShutdown && done >= capture_.repeat);
  if (last) EndSession("the capture range has ended");
}

void Session::NoteCaptures() {
  const uint32_t begun = recording_->captures_done() + (recording_->control().collecting() ? 1 : 0);
  // Windows of steps are parts of one capture.
  const bool windows = capture_.trigger == format::CaptureTrigger::kSteps;
  // Several may have begun since the last look: captures can be short, and machines busy.
  for (; captures_noted_ < begun; ++captures_noted_) {
    if (windows && captures_noted_ > 0) continue;
    commands_->Start(kAfterCollectionStart, capture_.after_start, output_ + kRecordingSuffix);
  }
}

void Session::ReapChildren() {
  while (true) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) {
      children_left_ = pid == 0;  // otherwise ECHILD: none left, grandchildren included
      return;
    }
    if (WIFSTOPPED(status)) {
      if (pid == program_pid_) signals_.ProgramStopped(WSTOPSIG(status));
      continue;
    }
    if (commands_->NoteEnd(pid, status)) continue;
    processes_->NoteWaitStatus(pid, status);
    if (pid == program_pid_) ProgramEnded(status);
  }
}

void Session::ProgramEnded(int wait_status) {
  wait_status_ = wait_status;
  program_end_ns_ = MonotonicNow();
  const bool had_terminal = signals_.ProgramEnded([this] { stop_waiting_ = true; });
  interrupted_ = had_terminal && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGINT;
  say_waiting_at_ns_ = MonotonicNow() + 2 * kSecond;
}

void Session::EndSession(const std::string& why) {
  if (ended_early_) return;
  ended_early_ = true;
  start_at_ns_ = 0;
  stop_at_ns_ = 0;
  recording_->StopCapture();
  if (wait_status_) {
    stop_waiting_ = true;
  } else if (options_.kill_signal != 0) {
    notice_(why + ": the program is ended with signal " + std::to_string(options_.kill_signal) +
            " (" + strsignal(options_.kill_signal) + "), as --kill says");
    kill(-program_pid_, options_.kill_signal);
    kill(-program_pid_, SIGCONT);
  } else {
    left_running_ = true;
    notice_(why + ": process " + std::to_string(program_pid_) + " runs on, unrecorded");
  }
}

SessionEnd Session::Finish() {
  recording_->StopCapture();
  recording_->control().Disable();
  NoteCaptures();
  ReapChildren();
  processes_->Finish();
  if (left_running_ || processes_->alive() > 0) preload_->Keep();
  SessionEnd end;
  end.program_ran = true;
  end.interrupted = interrupted_;
  end.left_running = left_running_;
  end.exit_code = wait_status_ ? ExitCodeOf(*wait_status_) : 0;
  end.processes = processes_->recorded();
  control_watch_.reset();
  if (wait_status_) {
    end.wall_ns = program_end_ns_ - program_start_ns_;
    recording_->log().AddProperty("session.wall_ns", std::to_string(end.wall_ns));
  }
  SealAtEnd(end);
  commands_->WaitFor(kAfterReportReady);
  server_.reset();  // `shutdown` waits for this: the recording is there then
  end.capture = capture_;
  end.recordings = sealed_;
  return end;
}

void Session::SealAtEnd(SessionEnd& end) {
  const uint32_t done = recording_->captures_done();
  if (recording_->control().page().processes_attached == 0) {
    recording_->log().AddReason("session",
                                "no process was recorded: the program is statically "
                                "linked, or runs with privileges of its own");
  }
  if (capture_.Several()) {
    for (uint32_t index = first_capture_; index < done && end.sealed.ok(); ++index) {
      const int number = static_cast<int>(index - first_capture_) + 1;
      end.sealed = SealTo(RecordingPath(output_, number), index);
    }
    if (done == first_capture_) notice_("no capture range was entered: there is no recording");
  } else if (first_capture_ == 0 && !waits_for_start_) {
    end.sealed = SealTo(RecordingPath(output_, 0), std::nullopt);
    if (done == 0) notice_("collection never began: the recording holds no events");
  } else if (done > first_capture_) {
    end.sealed = SealTo(RecordingPath(output_, 0), first_capture_);
  }
  if (end.sealed.ok()) end.sealed = RemoveLiveFolder(recording_->live_folder());
  if (!end.sealed.ok()) end.live_folder = recording_->live_folder();
}

Status Session::SealTo(const std::string& path, std::optional<uint32_t> index) {
  const auto summary = Seal(recording_->live_folder(), path, {index, capture_.replace, progress_});
  if (!summary.ok()) return summary.status();
  sealed_.push_back(path);
  commands_->Start(kAfterReportReady, capture_.after_report, path);
  return {};
}

}  // namespace batchlight::capture
