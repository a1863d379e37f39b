// What the clients of an interactive session ask for: start, stop, cancel, shutdown.
#include <utility>

#include "capture/recording/output_name.h"
#include "capture/session/session.h"
#include "format/secrets.h"

namespace batchlight::capture {

Status Session::Start(const CaptureOptions& options) {
  if (recording_->control().collecting()) {
    return UsageError("collection is already on; `batchlight stop` ends it");
  }
  RETURN_IF_ERROR(ChooseOutput(options, program_pid_));
  capture_ = options;
  first_capture_ = recording_->captures_done();
  duration_.Stop();  // it counts from this capture
  recording_->AllowGrowth();
  if (options.trigger == format::CaptureTrigger::kNone) {
    BeginCapture();
  } else {
    Note(CollectionEvent::kArmed);
  }
  recording_->SetTrigger(options);
  Note(LifeEvent::kReaped);
  return {};
}

Result<std::string> Session::Stop() {
  recording_->SetTrigger(CaptureOptions());  // no range starts another one
  recording_->StopCapture();
  const uint32_t done = recording_->captures_done();
  if (done == first_capture_ || collection_ == Collection::kLaunched) {
    return UsageError("nothing is being collected; `batchlight start` starts it");
  }
  RETURN_IF_ERROR(SealCaptures());
  first_capture_ = done;
  Note(CollectionEvent::kPutAway);
  std::string answer = EncodeAfter(capture_);
  for (const auto& sealed : std::exchange(sealed_, {})) {
    answer += "\n" + sealed->Identity() + " " + sealed->path();
  }
  return answer;
}

Status Session::Cancel() {
  if (collection_ == Collection::kLaunched) {
    return UsageError("nothing is being collected; there is nothing to drop");
  }
  recording_->SetTrigger(CaptureOptions());
  recording_->StopCapture();
  first_capture_ = recording_->captures_done();
  Note(CollectionEvent::kPutAway);
  return {};
}

Status Session::Shutdown(std::optional<int> signal) {
  if (signal) options_.kill_signal = *signal;
  End("the session is shut down");
  return {};
}

std::string Session::Describe() {
  FollowControlPage();
  return std::string(NameOf(collection_)) + "\t" + std::to_string(program_pid_) + "\t" +
         format::CommandWithoutSecrets(options_.command);
}

}  // namespace batchlight::capture
