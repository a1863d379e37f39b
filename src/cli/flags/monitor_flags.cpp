#include "cli/flags/monitor_flags.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "capture/monitor/otlp.h"
#include "format/step_board.h"

namespace batchlight::cli {
namespace {

// "60", "+60" after `step`; 0 if it is neither.
uint64_t ParseStep(std::string_view text, uint64_t step) {
  const bool is_relative = text.starts_with('+');
  if (is_relative) text.remove_prefix(1);
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number > format::kLastRequestableStep) return 0;
  return is_relative ? number + step : number;
}

}  // namespace

Result<capture::MonitorOptions> ReadMonitorFlags(const ParsedFlags& flags) {
  capture::MonitorOptions options;
  options.folder = flags.Text(Flag::kMonitor);
  options.metrics_file = flags.Text(Flag::kMetricsFile);
  if (flags.Given(Flag::kMonitor) && options.folder.empty()) {
    return UsageError("--monitor needs a folder");
  }
  for (const auto& [flag, name] : {std::pair(Flag::kMetricsFile, "--metrics-file"),
                                   {Flag::kMetricsPort, "--metrics-port"},
                                   {Flag::kMetricsOtlp, "--metrics-otlp"},
                                   {Flag::kSlowStep, "--slow-step"}}) {
    if (flags.Given(flag) && options.folder.empty()) {
      return UsageError(std::string(name) + " needs --monitor");
    }
  }
  if (flags.Given(Flag::kMetricsPort)) {
    const uint64_t port = std::strtoull(flags.Text(Flag::kMetricsPort).c_str(), nullptr, 10);
    if (port > UINT16_MAX) return UsageError("--metrics-port: no port from 0 to 65535");
    options.metrics_port = static_cast<uint16_t>(port);
  }
  options.metrics_otlp = flags.Text(Flag::kMetricsOtlp);
  if (flags.Given(Flag::kMetricsOtlp)) {
    RETURN_IF_ERROR(capture::OtlpSender::To(options.metrics_otlp).status());
  }
  if (!flags.Given(Flag::kSlowStep)) return options;
  const std::string text = flags.Text(Flag::kSlowStep);
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, options.slow_factor);
  if (read.ec != std::errc() || read.ptr != end || !(options.slow_factor > 1) ||
      !(options.slow_factor <= 1000)) {
    return UsageError("--slow-step: \"" + text + "\" is no factor over 1, such as 1.3");
  }
  return options;
}

Result<AskedSteps> ParseAskedSteps(const std::string& text, uint64_t step) {
  const size_t colon = std::min(text.find(':'), text.size());
  const AskedSteps asked = {
      .first = ParseStep(std::string_view(text).substr(0, colon), step),
      .last = ParseStep(std::string_view(text).substr(std::min(colon + 1, text.size())), step)};
  if (asked.first == 0 || asked.last < asked.first) {
    return UsageError("--steps: \"" + text +
                      "\" is neither A:B with 1 <= A <= B nor +A:+B, such as +50:+60");
  }
  if (asked.first <= step) {
    return UsageError("--steps: the job is in step " + std::to_string(step + 1) + " already");
  }
  if (asked.last - asked.first >= format::kMostRequestedSteps ||
      asked.last > format::kLastRequestableStep) {
    return UsageError("--steps: \"" + text + "\" are more than " +
                      std::to_string(format::kMostRequestedSteps) + " steps");
  }
  return asked;
}

}  // namespace batchlight::cli
