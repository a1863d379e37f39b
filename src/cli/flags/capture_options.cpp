// The flags that say which part of a run is recorded, and into which file: --capture-range,
// --steps, --every, --output, ...
#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "cli/flags/profile_options.h"

namespace batchlight::cli {
namespace {

using format::CaptureTrigger;

// `text` as a whole number; 0 if it is anything else.
uint64_t CountOrZero(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end ? number : 0;
}

// RANGE, RANGE@DOMAIN, RANGE@*; "\@" and "\\" stand for themselves.
void SplitRange(const std::string& text, capture::CaptureOptions& options) {
  std::string* part = &options.range_message;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      *part += text[++i];
    } else if (text[i] == '@' && part == &options.range_message) {
      part = &options.range_domain;
    } else {
      *part += text[i];
    }
  }
}

Status ReadRangeEnd(const std::string& text, capture::CaptureOptions& options) {
  using capture::RangeEnd;
  std::vector<std::string> parts;  // name, then any number of N and modes
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string& name = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    // These modes only say when the file is made, which does not change its contents.
    if (part == "defer" || part == "sync" || part == "async") continue;
    options.repeat = static_cast<uint32_t>(std::min<uint64_t>(CountOrZero(part), UINT32_MAX));
    if (options.repeat == 0) {
      return UsageError("--capture-range-end: " + part + " is no number of ranges");
    }
  }
  const bool repeats = name == "repeat" || name == "repeat-shutdown";
  if (!repeats && options.repeat != 0) {
    return UsageError("--capture-range-end: only repeat and repeat-shutdown take a number");
  }
  if (name == "repeat-shutdown" && options.repeat == 0) {
    return UsageError("--capture-range-end: repeat-shutdown needs a number: repeat-shutdown:3");
  }
  if (name == "none")
    options.range_end = RangeEnd::kNone;
  else if (name == "stop")
    options.range_end = RangeEnd::kStop;
  else if (name == "stop-shutdown")
    options.range_end = RangeEnd::kStopShutdown;
  else if (name == "repeat")
    options.range_end = RangeEnd::kRepeat;
  else if (name == "repeat-shutdown")
    options.range_end = RangeEnd::kRepeatShutdown;
  else
    return UsageError("--capture-range-end: \"" + text +
                      "\" is none of none, stop, stop-shutdown, repeat[:N], repeat-shutdown:N");
  return {};
}

// --steps and --every: windows that the program itself opens and closes, all in one recording.
Status ReadStepWindows(const ParsedFlags& flags, capture::CaptureOptions& options) {
  const bool steps = flags.Given(Flag::kSteps);
  const bool every = flags.Given(Flag::kEvery);
  const bool monitor = flags.Given(Flag::kMonitor);
  if (monitor && (steps || every || options.trigger != CaptureTrigger::kNone)) {
    return UsageError(
        "--monitor does not go with --steps, --every and --capture-range: its windows are asked "
        "for "
        "by `batchlight start --run FOLDER --steps A:B`");
  }
  if (!monitor && !steps && !every) {
    if (flags.Given(Flag::kWindow)) return UsageError("--window needs --every");
    if (flags.Given(Flag::kStepRange))
      return UsageError("--step-range needs --steps, --every or --monitor");
    return {};
  }
  if (steps && every) return UsageError("choose one of --steps and --every");
  if (options.trigger != CaptureTrigger::kNone) {
    return UsageError("--steps and --every do not go with --capture-range");
  }
  if (monitor) {
    options.windows = "monitor=1\n";
  } else if (steps) {
    const std::string text = flags.Text(Flag::kSteps);
    const size_t colon = std::min(text.find(':'), text.size());
    const uint64_t first = CountOrZero(text.substr(0, colon));
    const uint64_t last = CountOrZero(text.substr(std::min(colon + 1, text.size())));
    if (first == 0 || last < first) {
      return UsageError("--steps: \"" + text + "\" is not A:B with 1 <= A <= B, such as 10:20");
    }
    options.windows_start_open = first == 1;
    options.windows =
        "window.first=" + std::to_string(first) + "\nwindow.last=" + std::to_string(last) + "\n";
  } else {
    const uint64_t length = CountOrZero(flags.Text(Flag::kEvery));
    const uint64_t size = CountOrZero(flags.Text(Flag::kWindow));
    if (length == 0 || size == 0 || size > length) {
      return UsageError("--every N --window M: M steps of N, 1 <= M <= N");
    }
    options.windows_start_open = size == length;
    options.windows =
        "window.every=" + std::to_string(length) + "\nwindow.size=" + std::to_string(size) + "\n";
  }
  options.trigger = CaptureTrigger::kSteps;
  options.range_end = capture::RangeEnd::kNone;
  options.range_message.clear();
  if (flags.Given(Flag::kStepRange)) SplitRange(flags.Text(Flag::kStepRange), options);
  return {};
}

}  // namespace

Result<capture::CaptureOptions> MakeCaptureOptions(const ParsedFlags& flags) {
  capture::CaptureOptions options;
  if (flags.Given(Flag::kOutput)) options.output = flags.Text(Flag::kOutput);
  options.replace = flags.Bool(Flag::kForceOverwrite);
  options.stop_on_exit = flags.Bool(Flag::kStopOnExit);
  const std::string range = flags.Text(Flag::kCaptureRange);
  if (range == "hotkey") {
    return UsageError("--capture-range=hotkey needs a window; use nvtx, cudaProfilerApi, or " +
                      std::string("`batchlight launch` and `batchlight start`"));
  }
  if (range == "nvtx") options.trigger = CaptureTrigger::kNvtx;
  if (range == "cudaProfilerApi") options.trigger = CaptureTrigger::kCudaProfilerApi;
  std::string range_end = flags.Text(Flag::kCaptureRangeEnd);
  if (flags.Given(Flag::kStopOnRangeEnd) && !flags.Given(Flag::kCaptureRangeEnd)) {
    range_end = flags.Bool(Flag::kStopOnRangeEnd) ? "stop" : "none";
  }
  RETURN_IF_ERROR(ReadRangeEnd(range_end, options));
  options.stats = flags.Bool(Flag::kStats);
  options.after_start = flags.Text(Flag::kAfterCollectionStart);
  options.after_report = flags.Text(Flag::kAfterReportReady);
  for (const std::string& type : flags.List(Flag::kExport)) {
    if (type != "none") options.exports.push_back(type);
  }
  const std::string capture = flags.Text(Flag::kNvtxCapture);
  if (capture != "none") SplitRange(capture, options);
  if (options.trigger == CaptureTrigger::kNvtx && options.range_message.empty()) {
    return UsageError("--capture-range=nvtx needs --nvtx-capture=RANGE");
  }
  RETURN_IF_ERROR(ReadStepWindows(flags, options));
  return options;
}

}  // namespace batchlight::cli
