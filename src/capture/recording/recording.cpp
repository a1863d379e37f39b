#include "capture/recording/recording.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/kernel_text.h"
#include "base/process_memory.h"
#include "capture/loop/clock.h"
#include "capture/recording/live_folder.h"
#include "capture/recording/machine_facts.h"
#include "format/secrets.h"

namespace batchlight::capture {
namespace {

template <size_t kBytes>
Status CopyText(char (&to)[kBytes], const std::string& from, const char* what) {
  if (from.size() >= kBytes) {
    return UsageError(std::string(what) + " is longer than " + std::to_string(kBytes - 1) +
                      " bytes");
  }
  std::memset(to, 0, kBytes);
  std::memcpy(to, from.data(), from.size());
  return {};
}

// Names separated by NUL, ended by an empty one.
std::string JoinDomains(const std::vector<std::string>& domains) {
  std::string joined;
  for (const std::string& domain : domains) joined += domain + '\0';
  return joined;
}

// Each recorded thread takes up to four mappings of those that the kernel allows a process: a third
// of them at most. Without the limit's file (no /proc): any number of threads.
uint32_t MostStreams() {
  constexpr uint32_t kMappingsPerStream = 4;
  uint32_t most = 0;
  const std::string line = FirstLineOf("/proc/sys/vm/max_map_count");
  std::from_chars(line.data(), line.data() + line.size(), most);
  return most / 3 / kMappingsPerStream;
}

Status FillControlPage(format::ControlPage& page, const SessionOptions& options,
                       const std::string& python_folder) {
  page.trace = options.trace;
  page.budget_bytes = options.budget_bytes;
  page.max_streams = MostStreams();
  page.machine = ThisMachine();
  page.session_start_ns = MonotonicNow();
  page.tool_group = getpgrp() != getpid() ? static_cast<uint32_t>(getpgrp()) : 0;
  page.capture_registered_only = options.registered_only ? 1 : 0;
  page.domain_filter = options.domains.empty() ? 0 : options.exclude_domains ? 2 : 1;
  RETURN_IF_ERROR(CopyText(page.capture_message, options.capture.range_message, "--nvtx-capture"));
  RETURN_IF_ERROR(CopyText(page.capture_domain, options.capture.range_domain, "--nvtx-capture"));
  RETURN_IF_ERROR(CopyText(page.domains, JoinDomains(options.domains), "--nvtx-domain-..."));
  RETURN_IF_ERROR(CopyText(page.python_path, python_folder, "the path of the installation"));
  RETURN_IF_ERROR(
      CopyText(page.functions_trace, options.functions_trace, "--python-functions-trace"));
  return CopyText(page.extra, options.extra, "the list of further options");
}

}  // namespace

Result<Recording> Recording::Create(const std::string& path, const SessionOptions& options,
                                    const std::vector<std::string>& environment,
                                    const std::string& python_folder) {
  ASSIGN_OR_RETURN(LiveFolder live_folder, LiveFolder::Create(path, options.capture.replace));
  Status filled;
  auto control = Control::Create(live_folder, [&](format::ControlPage& page) {
    filled = FillControlPage(page, options, python_folder);
  });
  if (control.ok() && filled.ok()) {
    filled = SetDiskLimits(options.disk, live_folder, control->page());
  }
  auto log = ToolLog::Create(live_folder);
  Status status = !control.ok() ? control.status() : !filled.ok() ? filled : log.status();
  if (!status.ok()) {
    (void)live_folder.Remove();
    return status;
  }
  Recording recording(std::move(live_folder), std::move(control).value(), std::move(log).value(),
                      options.disk);
  recording.SetTrigger(options.capture);
  recording.WriteFacts(options, environment);
  return recording;
}

Recording::Recording(LiveFolder live_folder, Control control, ToolLog log, const DiskLimits& limits)
    : live_folder_(std::move(live_folder)),
      control_(std::move(control)),
      log_(std::move(log)),
      memory_room_(limits, live_folder_, control_.page(), FreeMemoryBytes) {}

void Recording::WriteFacts(const SessionOptions& options,
                           const std::vector<std::string>& environment) {
  log_.AddProperty("batchlight.version", options.tool_version);
  log_.AddProperty("session.command", format::CommandWithoutSecrets(options.command));
  if (options.capture.trigger == format::CaptureTrigger::kSteps) {
    log_.AddProperty("session.step_windows", options.capture.windows);
    if (!options.capture.range_message.empty()) {
      log_.AddProperty("session.step_range", options.capture.range_message);
    }
  }
  char folder[4096];
  if (getcwd(folder, sizeof folder) != nullptr) log_.AddProperty("session.cwd", folder);
  for (const auto& [key, value] : options.facts) log_.AddProperty(key, value);
  for (const auto& [feature, text] : options.reasons) log_.AddReason(feature, text);
  for (const auto& [key, value] : MachineFacts()) log_.AddProperty(key, value);
  for (const auto& [key, value] : EnvironmentFacts(environment, options.record_environment)) {
    log_.AddProperty(key, value);
  }
}

Result<uint32_t> Recording::CapturesAfter(uint32_t sealed) {
  constexpr uint32_t kMost = 10'000;
  const uint32_t done = captures_done();
  const uint32_t captures = done > sealed ? done - sealed : 0;
  if (captures <= kMost) return captures;
  return OutputError("the control page says that there were " + std::to_string(captures) +
                     " captures; more than " + std::to_string(kMost) +
                     " are not taken apart: the live folder has all of them, and can be read as a "
                     "recording (--capture-range-end=repeat:N takes N)");
}

void Recording::SetTrigger(const CaptureOptions& options) {
  format::ControlPage& page = control_.page();
  // The program may be running (`start` in a session): the trigger itself is set last.
  (void)CopyText(page.capture_message, options.range_message, "");
  (void)CopyText(page.capture_domain, options.range_domain, "");
  const bool once = options.range_end == RangeEnd::kStop ||
                    options.range_end == RangeEnd::kStopShutdown ||
                    options.range_end == RangeEnd::kNone;
  page.range_end_ignored = options.range_end == RangeEnd::kNone ? 1 : 0;
  // Counted from the start of the session, like captures_done.
  page.capture_repeat = once                  ? captures_done() + 1
                        : options.repeat == 0 ? 0
                                              : captures_done() + options.repeat;
  std::atomic_ref<format::CaptureTrigger>(page.trigger)
      .store(options.trigger, std::memory_order_release);
}

bool Recording::StartCapture() {
  if (!control_.Start()) return false;
  log_.AddCaptureWindow(control_.capture_index(), true);
  return true;
}

bool Recording::StopCapture() {
  const uint32_t index = control_.capture_index();
  if (!control_.Stop()) return false;
  log_.AddCaptureWindow(index, false);
  return true;
}

std::string Recording::StopIfFull() {
  const format::ControlPage& page = control_.page();
  if (is_full_ || page.stop.load() == format::RecordingStop::kNone) return {};
  is_full_ = true;
  // No range starts another capture, which could record nothing either.
  std::atomic_ref<format::CaptureTrigger>(control_.page().trigger)
      .store(format::CaptureTrigger::kNone, std::memory_order_release);
  StopCapture();
  const std::string memory = memory_room_.ExplainStop(live_folder_.path());
  const std::string why = memory.empty() ? ExplainStop(page, live_folder_.path()) : memory;
  log_.AddReason("recording", why);
  return why;
}

void Recording::AllowGrowth() {
  is_full_ = false;
  control_.page().stop = format::RecordingStop::kNone;
}

void Recording::NoteLosses() {
  const format::ControlPage& page = control_.page();
  const auto error = static_cast<int>(page.growth_error.load());
  if (error != 0 && !is_full_) {
    log_.AddReason("recording", std::string("events are missing: the recording could not grow: ") +
                                    std::strerror(error));
  }
  if (const std::string left_out = ExplainLeftOut(page, live_folder_.path()); !left_out.empty()) {
    log_.AddReason("processes", left_out);
  }
  if (const uint32_t lost = page.events_unfiled.load(); lost != 0) {
    log_.AddReason("processes", std::to_string(lost) +
                                    " events are missing, of processes that could write no file "
                                    "(after setuid, for one, the recording is another user's)");
  }
  if (const uint32_t cut = page.events_cut_off.load(); cut != 0) {
    log_.AddReason("threads", "the recorder was left in the middle " + std::to_string(cut) +
                                  " times, by siglongjmp out of a signal handler or because the "
                                  "thread was cancelled: up to one event each is missing");
  }
  if (page.files_cut.load() != 0) {
    log_.AddReason("recording",
                   "events are missing: somebody cut a file of the recording short while it was "
                   "written; leave the .live folder alone until the run is over");
  }
}

void Recording::FollowProcesses() { log_.SetCapture(control_.capture_index()); }

}  // namespace batchlight::capture
