// What the clients of an interactive session ask for: start, stop, cancel, shutdown.
#include <utility>

#include "capture/output_name.h"
#include "capture/session.h"

namespace batchlight::capture {

Status Session::Start(const CaptureOptions& options) {
  if (recording_->control().collecting()) {
    return UsageError("collection is on already; `batchlight stop` ends it");
  }
  RETURN_IF_ERROR(ChooseOutput(options, program_pid_));
  capture_ = options;
  waits_for_start_ = false;
  first_capture_ = recording_->captures_done();
  if (options.trigger == format::CaptureTrigger::kNone) {
    BeginCapture();
  }
  recording_->SetTrigger(options);
  return {};
}

Result<std::string> Session::Stop() {
  recording_->SetTrigger(CaptureOptions());  // no range starts another one
  recording_->StopCapture();
  const uint32_t done = recording_->captures_done();
  if (done == first_capture_ || waits_for_start_) {
    return UsageError("nothing is being collected; `batchlight start` begins");
  }
  for (uint32_t index = first_capture_; index < done; ++index) {
    const int number = capture_.Several() ? static_cast<int>(index - first_capture_) + 1 : 0;
    RETURN_IF_ERROR(SealTo(RecordingPath(output_, number), index));
  }
  first_capture_ = done;
  waits_for_start_ = true;
  std::string answer = EncodeAfter(capture_);
  for (const std::string& path : std::exchange(sealed_, {})) answer += "\n" + path;
  return answer;
}

Status Session::Cancel() {
  if (waits_for_start_) return UsageError("nothing is being collected; there is nothing to drop");
  recording_->SetTrigger(CaptureOptions());
  recording_->StopCapture();
  first_capture_ = recording_->captures_done();
  waits_for_start_ = true;
  return {};
}

Status Session::Shutdown(std::optional<int> signal) {
  if (signal) options_.kill_signal = *signal;
  EndSession("the session is shut down");
  return {};
}

std::string Session::Describe() {
  std::string command;
  for (const std::string& word : options_.command) command += (command.empty() ? "" : " ") + word;
  Control& control = recording_->control();
  const char* state = control.collecting()                           ? "collecting"
                      : waits_for_start_                             ? "launched"
                      : recording_->captures_done() > first_capture_ ? "stopped"
                                                                     : "waiting";
  return std::string(state) + "\t" + std::to_string(program_pid_) + "\t" + command;
}

}  // namespace batchlight::capture
