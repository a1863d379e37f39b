// From the options to the running program.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/child.h"
#include "base/file.h"
#include "capture/loop/clock.h"
#include "capture/loop/cpu_limit.h"
#include "capture/loop/early_end.h"
#include "capture/recording/left_overs.h"
#include "capture/recording/live_folder.h"
#include "capture/recording/output_name.h"
#include "capture/session/session.h"
#include "capture/session/target_program.h"

namespace batchlight::capture {
namespace {

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

SessionEnd EndedBy(int signal) {
  SessionEnd end;
  end.exit_code = 128 + signal;
  end.ended_by = signal;
  return end;
}

Collection FirstCollection(const SessionOptions& options) {
  if (options.wait_for_start) return Collection::kLaunched;
  const CaptureOptions& capture = options.capture;
  const bool triggered =
      capture.trigger != format::CaptureTrigger::kNone && !capture.windows_start_open;
  return triggered ? Collection::kArmed : Collection::kDelayed;
}

// The variable by which the program finds the live folder. Absolute: the program and its children
// may change their folder.
std::string FolderVariable(const LiveFolder& live_folder) {
  char* resolved = realpath(live_folder.folder().DescriptorPath().c_str(), nullptr);
  std::string variable = std::string(format::kSessionDirVariable) + "=" +
                         (resolved != nullptr ? resolved : live_folder.path().c_str());
  free(resolved);
  return variable;
}

}  // namespace

Session::Session(SessionOptions options, Notice notice, Progress progress)
    : options_(std::move(options)),
      notice_(std::move(notice)),
      progress_(std::move(progress)),
      collection_(FirstCollection(options_)),
      capture_(options_.capture) {}

Result<std::optional<SessionEnd>> Session::StartProgram() {
  ASSIGN_OR_RETURN(const Install install, FindInstall());
  EnvironmentOptions wanted = PlainEnvironment(options_);
  ASSIGN_OR_RETURN(preload_, PreloadPath(install.inject_library));
  wanted.preload = preload_;
  wanted.levels = options_.levels;
  if ((options_.trace & format::kTraceOs) != 0) {
    RETURN_IF_ERROR(PreloadShims(install.osrt_library, "leave osrt out of --trace"));
  }
  if ((options_.trace & format::kTraceMemory) != 0) {
    RETURN_IF_ERROR(PreloadShims(install.memory_library, "leave out --python-memory"));
  }
  RETURN_IF_ERROR(PreloadTimers(install));
  wanted.shims = shims_;
  wanted.cuda = (options_.trace & format::kTraceCuda) != 0;
  for (const std::string& line : ReplacedInjections(wanted)) notice_(line);
  const TargetProgram target = FindTarget(options_, wanted);
  if (target.found.path.empty()) return std::optional(CannotStart(target.found));

  signals_.Block(IsAnother(options_.run_as));
  ASSIGN_OR_RETURN(Program program, Program::Fork(SpecOf(options_, target, signals_, inherited_)));
  program_pid_ = program.pid();
  EarlyEnd early_end(signals_.original_mask());
  RETURN_IF_ERROR(Prepare(program.pid(), install, target.environment));
  inherited_.LetGo(options_.keeps);
  if (!early_end.LetProgramRun()) {
    Discard();
    return std::optional(EndedBy(early_end.Finish()));
  }
  early_end.Finish();  // there may be room for one thread more than this
  control_watch_.emplace(loop_, recording_->control());
  if (const Status watches = control_watch_->Open([this] { ControlChanged(); }); !watches.ok()) {
    Discard();
    return watches;
  }
  signals_.LendTerminal();
  program_start_ns_ = MonotonicNow();
  const StartFailure failure =
      program.Execute(FolderVariable(recording_->live_folder()), [this] { signals_.EndIfAsked(); });
  if (failure.error != 0) {
    Discard();
    WaitForChild(program.pid());
    return std::optional(CannotStart(ExplainStartFailure(target.found.path, failure)));
  }
  NoteCaptures();
  return std::optional<SessionEnd>();
}

void Session::Discard() {
  signals_.ProgramEnded([] {});  // the witness, too: it has the tool's memory, and maps its files
  (void)recording_->live_folder().Remove();
}

Status Session::PreloadShims(const std::string& library, const std::string& or_else) {
  if (!FileExists(library)) {
    return InputError(library + " is missing: copy the whole installation, or " + or_else);
  }
  ASSIGN_OR_RETURN(std::string shims, PreloadPath(library));
  shims_.push_back(std::move(shims));
  return {};
}

Status Session::PreloadTimers(const Install& install) {
  // Of another user's program the tool would read what it says of its memory.
  if (!options_.cpu.samples || OtherUser() || WhyNoSamples().empty()) return {};
  if (!FileExists(install.timers_library)) return {};
  preloads_timers_ = true;
  return PreloadShims(install.timers_library, "leave out --sample");
}

Status Session::Prepare(pid_t pid, const Install& install,
                        const std::vector<std::string>& environment) {
  RaiseFileLimit();
  RaiseCpuLimit();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // `ulimit -f`: writing fails instead, with its reason
  RETURN_IF_ERROR(loop_.Open());
  RETURN_IF_ERROR(OpenRecording(pid, install, environment));
  Status status;
  if (options_.run_as) {
    status = GiveRecordingTo(*options_.run_as, install.inject_library);
  }
  if (status.ok()) status = OpenWatches(pid);
  if (status.ok()) status = OpenMonitor();
  if (!status.ok()) {
    Discard();
    return status;
  }
  if (!options_.gpu_sampling.devices.empty()) {
    gpu_sampler_.emplace(loop_, recording_->log(), recording_->control());
    gpu_sampler_->Start(options_.gpu_sampling);
  }
  if (collection_ == Collection::kDelayed && options_.delay_s > 0) {
    delay_.Start(options_.delay_s);
  } else if (collection_ == Collection::kDelayed) {
    BeginCapture();
  }
  OpenCpuRecorder(pid);
  OpenProgramStacks();
  OpenPythonSampler();
  OpenUsageSampler(pid);
  return {};
}

std::optional<FileOwner> Session::OtherUser() const {
  if (!IsAnother(options_.run_as)) return std::nullopt;
  return FileOwner{options_.run_as->uid, options_.run_as->gid, options_.run_as->groups};
}

void Session::OpenProgramStacks() {
  if (!options_.names_program_stacks) return;
  auto stacks = ProgramStacks::Create(recording_->live_folder(), OtherUser());
  if (stacks.ok()) {
    program_stacks_.emplace(std::move(stacks).value());
  } else {
    SayOfCpu("functions of native stacks have no names: " + stacks.status().message());
  }
}

void Session::OpenCpuRecorder(pid_t pid) {
  if (!options_.cpu.Any()) return;
  auto recorder = CpuRecorder::Open(pid, options_.cpu, recording_->live_folder(),
                                    recording_->control().collecting(), OtherUser());
  Status started = recorder.status();
  if (started.ok()) {
    cpu_ = std::move(recorder).value();
    started = cpu_->Start();
  }
  if (started.ok()) {
    for (const auto& [key, value] : cpu_->Facts()) recording_->log().AddProperty(key, value);
    return;
  }
  cpu_.reset();
  if (preloads_timers_) {
    const Status timers = OpenTimerSampler();
    if (timers.ok()) return SayOfTimers(started.message());
    started = timers;
  }
  const std::string what = !options_.cpu.samples   ? "context switches are"
                           : options_.cpu.switches ? "CPU samples and context switches are"
                                                   : "CPU samples are";
  SayOfCpu(what + " not recorded: " + started.message());
}

Status Session::OpenTimerSampler() {
  ASSIGN_OR_RETURN(timer_sampler_, TimerSampler::Open(options_.cpu, recording_->live_folder()));
  const Status started = timer_sampler_->Start();
  if (!started.ok()) timer_sampler_.reset();
  return started;
}

void Session::SayOfTimers(const std::string& refused) {
  for (const auto& [key, value] : timer_sampler_->Facts()) {
    recording_->log().AddProperty(key, value);
  }
  SayOfCpu("CPU samples are taken by timers in the program: " + refused +
           ". They do not show code in the kernel, nor threads of programs that do not load the "
           "recorder "
           "(static ones)" +
           (options_.cpu.switches ? "; context switches are not recorded" : ""));
}

void Session::OpenPythonSampler() {
  if (options_.python_period_ns == 0) return;
  if (OtherUser()) {
    // What its processes say of themselves must not lead root's tool to the memory of others.
    return SayOfPythonSamples("--run-as: the program is another user's");
  }
  auto sampler = PythonSampler::Open(recording_->live_folder(), options_.python_period_ns,
                                     recording_->control().collecting());
  Status started = sampler.status();
  if (started.ok()) {
    python_sampler_ = std::move(sampler).value();
    started = python_sampler_->Start();
  }
  if (!started.ok()) {
    python_sampler_.reset();
    return SayOfPythonSamples(started.message());
  }
  recording_->log().AddProperty("python.sampling_period_ns",
                                std::to_string(options_.python_period_ns));
}

// A folder that cannot be made is the user's to choose again; without a board the program runs on,
// unwatched.
Status Session::OpenMonitor() {
  if (options_.monitor.folder.empty()) return {};
  ASSIGN_OR_RETURN(RunFolder folder, RunFolder::Make(options_.monitor.folder));
  std::optional<MetricsFile> metrics_file;
  if (!options_.monitor.metrics_file.empty()) {
    ASSIGN_OR_RETURN(options_.monitor.metrics_file,
                     ExpandOutputName(options_.monitor.metrics_file, program_pid_));
    ASSIGN_OR_RETURN(metrics_file, MetricsFile::Open(options_.monitor.metrics_file));
  }
  auto board = BoardFile::Create(recording_->live_folder());
  Status started = board.status();
  const auto other = OtherUser();
  if (started.ok() && other && !board->GiveTo(other->uid, other->gid)) {
    started = OutputError(std::strerror(errno));
  }
  if (started.ok()) {
    monitor_ = std::make_unique<Monitor>(options_.monitor, options_.tool_version, std::move(folder),
                                         std::move(board).value(),
                                         [this] { return recording_->captures_done(); });
    if (metrics_file) monitor_->Write(std::move(*metrics_file));
    ServeMetrics();
    SendMetrics();
    started = monitor_->Start();
  }
  if (!started.ok()) {
    monitor_.reset();
    const std::string why = "the steps are not watched: " + started.message();
    notice_(why);
    recording_->log().AddReason("monitor", why);
  }
  return {};
}

// Of several ranks on a machine one gets the port; the others run without.
void Session::ServeMetrics() {
  if (!options_.monitor.metrics_port) return;
  auto server = MetricsServer::Listen(*options_.monitor.metrics_port);
  if (!server.ok()) return notice_(server.status().message());
  notice_("metrics are at http://127.0.0.1:" + std::to_string(server->port()) + "/metrics");
  monitor_->Serve(std::move(server).value());
}

void Session::SendMetrics() {
  if (options_.monitor.metrics_otlp.empty()) return;
  auto sender = OtlpSender::To(options_.monitor.metrics_otlp);
  if (!sender.ok()) return notice_(sender.status().message());
  const char* const service = std::getenv("OTEL_SERVICE_NAME");
  const bool named = service != nullptr && *service != '\0';
  monitor_->Send(std::move(sender).value(), named ? service : "batchlight", notice_);
}

void Session::OpenUsageSampler(pid_t pid) {
  auto sampler = UsageSampler::Open(loop_, *processes_, recording_->live_folder(), pid, preload_);
  if (!sampler.ok()) {
    recording_->log().AddReason(
        "process-usage", "what processes use is not recorded: " + sampler.status().message());
    return;
  }
  usage_ = std::move(sampler).value();
  const Control& control = recording_->control();
  usage_->SetCapture(control.capture_index(), control.collecting());
}

void Session::SayOfPythonSamples(const std::string& why) {
  const std::string line = "Python code is not sampled: " + why;
  if (options_.python_samples_asked) notice_(line);
  recording_->log().AddReason("python-sampling", line);
}

void Session::SayOfCpu(const std::string& why) {
  notice_(why);
  recording_->log().AddReason("cpu", why);
}

// The folder and the control page, which the program writes; the tool's own file stays the tool's.
Status Session::GiveRecordingTo(const RunAs& user, const std::string& library) {
  if (geteuid() == user.uid) return {};
  const LiveFolder& folder = recording_->live_folder();
  if (!folder.GiveTo(user.uid, user.gid) || !recording_->control().GiveTo(user.uid, user.gid)) {
    return OutputError("--run-as: cannot give " + folder.path() + " to " + user.name + ": " +
                       std::strerror(errno));
  }
  return CheckReach(user, folder.path(), library);
}

Status Session::OpenWatches(pid_t pid) {
  commands_.emplace(options_.session_name, notice_, signals_.original_mask());
  processes_.emplace(loop_, recording_->log());
  RETURN_IF_ERROR(processes_->Open(recording_->live_folder()));
  // Orphans of the program come to the tool: how they end is known, and --wait=all can wait.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::string& folder = recording_->live_folder().path();
  return signals_.Open(
      pid, [this] { Reap(); },
      [notice = notice_, folder] {
        notice(
            "the program has ended, its recording is not sealed yet; asked once more, batchlight " +
            ("ends at once, and what was recorded stays in " + folder));
      });
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
    if (collection_ == Collection::kLaunched) {
      live_folder = NameOfLaunched(pid);
    } else {
      RETURN_IF_ERROR(ChooseOutput(capture_, pid));
      live_folder = output_ + kLiveSuffix;
    }
    auto recording = Recording::Create(live_folder, options_, environment, install.python_folder);
    if (recording.ok()) {
      recording_.emplace(std::move(recording).value());
      recording_->SetProgram(pid);
      SayWhatIsLeft();
      return {};
    }
    // Another tool may have taken a name that was free a moment ago.
    const bool taken =
        collection_ != Collection::kLaunched && capture_.output.empty() && FileExists(live_folder);
    if (!taken) return recording.status();
  }
}

// In the present folder if it can be written, else in /tmp. There others can make what it would be
// called beforehand, so its name is one that they cannot guess.
std::string Session::NameOfLaunched(pid_t pid) const {
  const std::string name = options_.session_name + "-";
  if (access(".", W_OK) == 0) {
    const std::string place = name + std::to_string(pid) + kLiveSuffix;
    struct stat taken {};  // by others, where all may write and foresee it
    return lstat(place.c_str(), &taken) != 0 ? place : name + RandomLetters() + kLiveSuffix;
  }
  const std::string place = "/tmp/" + name + RandomLetters() + kLiveSuffix;
  notice_("this folder cannot be written: events are collected in " + place);
  return place;
}

// Of earlier runs, beside the output.
void Session::SayWhatIsLeft() {
  if (!output_folder_) return;
  const std::vector<std::string> left = LeftLiveFolders(*output_folder_);
  if (left.empty()) return;
  const std::string place = output_folder_->path() == "." ? "" : " " + output_folder_->path();
  notice_(left[0] +
          (left.size() > 1 ? " and " + std::to_string(left.size() - 1) + " more were" : " was") +
          " left by a run whose tool was killed; `batchlight clean" + place +
          "` makes a recording of it");
}

Status Session::ChooseOutput(const CaptureOptions& options, pid_t pid) {
  if (options.output.empty()) {
    output_ = NextFreeName("report");
  } else {
    ASSIGN_OR_RETURN(output_, ExpandOutputName(options.output, pid));
    if (!options.replace) RETURN_IF_ERROR(CheckOutputIsFree(output_, options.Several()));
  }
  auto folder = Folder::OpenParent(output_);
  if (!folder.ok()) {
    return OutputError(folder.status().message() + "; create it first or choose another with -o");
  }
  output_folder_ = std::make_shared<const Folder>(std::move(folder).value());
  return {};
}

}  // namespace batchlight::capture
