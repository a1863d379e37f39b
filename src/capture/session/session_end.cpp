// From the end of the session to its sealed recordings.
#include "base/child.h"
#include "base/contain.h"
#include "capture/gpu/code_names.h"
#include "capture/loop/cpu_limit.h"
#include "capture/program/cupti_folder.h"
#include "capture/recording/live_folder.h"
#include "capture/recording/output_name.h"
#include "capture/session/session.h"
#include "format/forbidden_call.h"

namespace batchlight::capture {

SessionEnd Session::Finish() {
  if (monitor_ && !monitor_->End()) {
    notice_("what watches the job was left waiting: the file system of " + options_.monitor.folder +
            " or of the metrics does not answer");
  }
  gpu_sampler_.reset();  // with what was sampled while it collected
  // The program may have ended before the tool saw that a limit was reached.
  if (const std::string why = recording_->StopIfFull(); !why.empty()) notice_(why);
  recording_->StopCapture();
  recording_->control().Disable();
  FollowWithSamplers();
  NoteCaptures();
  Reap();
  processes_->Finish();
  all_ended_ = life_ != Life::kLeftRunning && processes_->alive() == 0;
  SessionEnd end = end_;
  end.program_ran = true;
  end.left_running = life_ == Life::kLeftRunning;
  end.exit_code = wait_status_ ? ShellExitCode(*wait_status_) : 0;
  end.processes = processes_->recorded();
  control_watch_.reset();
  EndAtCpuLimit(end.exit_code != 0 ? end.exit_code : static_cast<int>(ErrorKind::kOutput),
                "what was recorded stays in the live folder");
  SayOfUnreached();
  recording_->NoteLosses();
  if (wait_status_) {
    recording_->log().AddProperty("session.wall_ns", std::to_string(end.wall_ns));
    if (program_peak_bytes_ != 0) {
      recording_->log().AddProperty("session.peak_bytes", std::to_string(program_peak_bytes_));
    }
  }
  SealAtEnd(end);
  commands_->WaitFor(kAfterReportReady);
  server_.reset();  // `shutdown` waits for this: the recording is there then
  end.capture = capture_;
  end.recordings = sealed_;
  return end;
}

// Where nothing at all was recorded from inside, that is said instead.
void Session::SayOfUnreached() {
  const std::string why = usage_ ? usage_->UnreachedText() : "";
  if (why.empty() || recording_->control().page().processes_attached == 0) return;
  notice_(why);
  recording_->log().AddReason(format::kProcessesFeature, why);
}

void Session::SealAtEnd(SessionEnd& end) {
  const uint32_t done = recording_->captures_done();
  if (recording_->control().page().processes_attached == 0) {
    std::string why =
        "no process was recorded from inside: the program is statically linked, or runs with "
        "privileges of its own (sudo, su)";
    if (cpu_ || timer_sampler_ || python_sampler_) {
      why += "; samples and what it used were taken from outside";
    }
    notice_(why);
    recording_->log().AddReason("session", why);
  }
  if (capture_.Several()) {
    end.sealed = SealCaptures();
    if (done == first_capture_) notice_("no capture range was entered: there is no recording");
  } else if (first_capture_ == 0 && collection_ != Collection::kLaunched) {
    end.sealed = SealTo(RecordingPath(output_, 0), std::nullopt);
    const bool watched = !options_.monitor.folder.empty();
    if (done == 0 && watched) {
      notice_(
          "no window was asked for that was yet to come: the recording holds no steps (`batchlight "
          "start --run " +
          options_.monitor.folder + " --steps +50:+60` asks for one while the program runs)");
    } else if (done == 0) {
      notice_("collection never began: the recording holds no events");
    }
  } else if (done > first_capture_) {
    end.sealed = SealTo(RecordingPath(output_, 0), first_capture_);
  }
  if (end.sealed.ok()) end.sealed = recording_->live_folder().Remove();
  if (end.sealed.ok()) return;
  end.live_folder = recording_->live_folder().path();
  end.recording_is_left = recording_->live_folder().HoldsRecording();
}

Status Session::SealCaptures() {
  ASSIGN_OR_RETURN(const uint32_t captures, recording_->CapturesAfter(first_capture_));
  for (uint32_t capture = 0; capture < captures; ++capture) {
    const int number = capture_.Several() ? static_cast<int>(capture) + 1 : 0;
    RETURN_IF_ERROR(SealTo(RecordingPath(output_, number), first_capture_ + capture));
  }
  return {};
}

Status Session::SealTo(const std::string& path, std::optional<uint32_t> index) {
  SealOptions options{.capture_index = index,
                      .replace = capture_.replace,
                      .ended = all_ended_,
                      .progress = progress_};
  options.output_folder = output_folder_.get();
  int held_fd = -1;
  options.held_fd = &held_fd;
  if (options_.run_as) {  // the file is theirs whose program it shows
    options.owner = options_.run_as->uid;
    options.group = options_.run_as->gid;
  }
  const uint32_t capture = index.value_or(recording_->control().capture_index());
  if (program_stacks_) {
    const Status named = Contain("naming functions of native stacks", [&] {
      return program_stacks_->Name(recording_->live_folder(), capture);
    });
    if (!named.ok()) SayOfCpu(named.message());
  }
  if (options_.extra.find("stalls.") != std::string::npos) {
    // Another user's code is not for programs that run as the tool.
    const std::string disassembler =
        options_.run_as ? "" : FindDisassembler(FindCuptiFolder(options_.command));
    if (disassembler.empty()) {
      recording_->log().AddReason(
          "counters", options_.run_as
                          ? "sampled instructions have no text: --run-as"
                          : "sampled instructions have no text: nvdisasm was not found; "
                            "it is in CUDA's toolkit and in Triton");
    }
    const Status named = Contain("naming sampled instructions", [&] {
      return NameGpuCode(recording_->live_folder(),
                         {.disassembler = disassembler, .capture = capture});
    });
    if (!named.ok()) recording_->log().AddReason("counters", named.message());
  }
  if (cpu_) {
    const Status cpu = cpu_->Finish(capture);
    if (!cpu.ok()) SayOfCpu(cpu.message() + "; samples and switches are not whole");
  }
  if (timer_sampler_) {
    const Status timers = timer_sampler_->Finish(capture);
    if (!timers.ok()) SayOfCpu(timers.message() + "; samples are not whole");
    if (const std::string unseen = timer_sampler_->Unseen(); !unseen.empty()) SayOfCpu(unseen);
  }
  if (python_sampler_) {
    const Status python = python_sampler_->Finish();
    if (!python.ok()) SayOfPythonSamples(python.message());
  }
  RETURN_IF_ERROR(Contain("sealing " + path,
                          [&] { return Seal(recording_->live_folder(), path, options).status(); }));
  if (!sealed_.empty()) sealed_.back()->LetGo();
  sealed_.push_back(std::make_shared<SealedRecording>(path, output_folder_, held_fd));
  commands_->Start(kAfterReportReady, capture_.after_report, path);
  return {};
}

}  // namespace batchlight::capture
