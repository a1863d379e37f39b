#include "cli/flags/profile_options.h"

#include <stdlib.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <string_view>

#include "capture/session/session_protocol.h"
#include "cli/flags/backtrace_flags.h"
#include "cli/flags/cpu_flags.h"
#include "cli/flags/monitor_flags.h"
#include "cli/flags/trace_options.h"

namespace batchlight::cli {
namespace {

using format::CaptureTrigger;

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kMostBudgetBytes = 4095 * kMiB;
constexpr uint64_t kMostDiskBytes = uint64_t{1} << 50;

// 64M, 1G, ... The error names the sizes that are fine as `range`.
Result<uint64_t> ParseSize(const ParsedFlags& flags, Flag flag, uint64_t most, const char* range) {
  const std::string text = flags.Text(flag);
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  const auto unit_is = [&](const char* letter, const char* word) {
    return strcasecmp(result.ptr, letter) == 0 || strcasecmp(result.ptr, word) == 0;
  };
  const int shift = unit_is("k", "kib")   ? 10
                    : unit_is("m", "mib") ? 20
                    : unit_is("g", "gib") ? 30
                    : unit_is("t", "tib") ? 40
                    : result.ptr == end   ? 0
                                          : -1;
  const bool fits = result.ec == std::errc() && shift >= 0 && number <= most >> shift;
  if (!fits || number << shift < kMiB) {
    return UsageError("--" + std::string(kFlags[static_cast<size_t>(flag)].name) + ": \"" + text +
                      "\" is no size " + range);
  }
  return number << shift;
}

Status ReadDiskLimits(const ParsedFlags& flags, capture::DiskLimits& disk) {
  if (flags.Given(Flag::kMaxSize)) {
    ASSIGN_OR_RETURN(disk.max_bytes, ParseSize(flags, Flag::kMaxSize, kMostDiskBytes,
                                               "from 1M, such as 500M or 20G"));
  }
  if (!flags.Given(Flag::kKeepFree)) return {};
  const std::string text = flags.Text(Flag::kKeepFree);
  if (text == "0") {
    disk.keep_free_bytes = 0;
  } else if (text.ends_with('%')) {
    double percent = -1;
    const char* end = text.data() + text.size() - 1;
    const auto result = std::from_chars(text.data(), end, percent);
    if (result.ec != std::errc() || result.ptr != end || percent < 0 || percent >= 100) {
      return UsageError("--keep-free: \"" + text + "\" is no share of a disk, such as 5%");
    }
    disk.keep_free_share = percent / 100;
  } else {
    ASSIGN_OR_RETURN(disk.keep_free_bytes, ParseSize(flags, Flag::kKeepFree, kMostDiskBytes,
                                                     "from 1M, such as 10G, nor a share, such as "
                                                     "5%"));
  }
  return {};
}

Status ReadVariables(const ParsedFlags& flags, capture::SessionOptions& options) {
  options.variables = flags.List(Flag::kEnvVar);
  for (const std::string& variable : options.variables) {
    if (variable.find('=') == std::string::npos || variable[0] == '=') {
      return UsageError("--env-var: \"" + variable + "\" is not of the form NAME=VALUE");
    }
    if (variable.starts_with("NSYS_NVTX_PROFILER_REGISTER_ONLY=")) {
      options.registered_only = variable.ends_with("=1");
    }
  }
  return {};
}

// Whatever --pytorch says: where steps end is told by the phases of the training loop alone.
void FollowSteps(capture::SessionOptions& session) {
  session.trace |= format::kTracePython | format::kTracePhases;
}

// --steps, --every and --monitor, without a range that is a step.
void FollowStepsOfWindows(capture::SessionOptions& session) {
  if (!session.capture.windows.empty() && session.capture.range_message.empty()) {
    FollowSteps(session);
  }
}

// Why no step can go without detail in this session; "" if some can.
std::string WhyAllDetail(const ParsedFlags& flags, const capture::SessionOptions& session) {
  if (session.capture.trigger != CaptureTrigger::kNone) {
    return "with --steps, --every and -c, which say themselves what is recorded";
  }
  if (flags.Text(Flag::kPythonTrace) != "none" || !flags.Text(Flag::kLines).empty()) {
    return "with --python-trace and --lines, whose counts are exact";
  }
  return "";
}

// 3%, 0.5%, 3
Result<double> ParseShare(const std::string& text) {
  double percent = 0;
  const char* end = text.data() + text.size() - (text.ends_with('%') ? 1 : 0);
  const auto result = std::from_chars(text.data(), end, percent);
  if (result.ec != std::errc() || result.ptr != end || !(percent >= 0.01 && percent <= 1000)) {
    return UsageError("--overhead: \"" + text + "\" is no share of a step from 0.01%, such as 3%");
  }
  return percent / 100;
}

// --control-steps and --overhead. Lines of ControlPage::extra, as inject/collect/step_detail.cpp
// reads them.
Status ReadStepDetail(const ParsedFlags& flags, capture::SessionOptions& session) {
  const std::string text = flags.Text(Flag::kControlSteps);
  const uint64_t every = text == "none" ? 0 : std::strtoull(text.c_str(), nullptr, 10);
  if (text != "none" && (every < 2 || every > 1'000'000)) {
    return UsageError("--control-steps: " + text + " is no number from 2 to 1000000, nor none");
  }
  const std::string why = WhyAllDetail(flags, session);
  for (const Flag flag : {Flag::kControlSteps, Flag::kOverhead}) {
    const bool off = flag == Flag::kControlSteps && every == 0;
    if (flags.Given(flag) && !off && !why.empty()) {
      return UsageError("--" + std::string(kFlags[static_cast<size_t>(flag)].name) +
                        " does not go " + why);
    }
  }
  constexpr uint32_t kDetail = format::kTraceModules | format::kTraceOperators | format::kTraceCuda;
  if (!why.empty() || (session.trace & kDetail) == 0) return {};
  if (every != 0 || flags.Given(Flag::kOverhead)) FollowSteps(session);
  if (every != 0) session.extra += "detail.every=" + std::to_string(every) + "\n";
  if (!flags.Given(Flag::kOverhead)) return {};
  ASSIGN_OR_RETURN(const double budget, ParseShare(flags.Text(Flag::kOverhead)));
  session.extra += "detail.budget=" + std::to_string(std::llround(budget * 1e6)) + "\n";
  session.facts.emplace_back("session.overhead_budget", std::to_string(budget));
  return {};
}

// --step-counters. The names of metrics are checked when they are planned.
Status ReadStepCounters(const ParsedFlags& flags, ProfileOptions& options) {
  const std::string text = flags.Text(Flag::kStepCounters);
  if (text == "false") return {};
  if ((options.session.trace & format::kTraceCuda) == 0) {
    return UsageError("--step-counters needs cuda in --trace");
  }
  options.counters.sets = flags.List(Flag::kStepCounters);
  if (text == "true") options.counters.sets = {"essentials"};
  for (const std::string& name : flags.List(Flag::kCounterMetrics)) {
    options.counters.sets.push_back(name);
  }
  FollowSteps(options.session);
  return {};
}

// --stalls. `kernels` chooses other windows.
Status ReadStalls(const ParsedFlags& flags, ProfileOptions& options) {
  const std::string text = flags.Text(Flag::kStalls);
  if (text == "false") return {};
  if ((options.session.trace & format::kTraceCuda) == 0) {
    return UsageError("--stalls needs cuda in --trace");
  }
  if (!options.session.gpu_sampling.devices.empty()) {
    return UsageError(
        "--stalls and --gpu-metrics-devices both need the GPU's counters: choose one");
  }
  options.stalls.wanted = true;
  options.stalls.continuous = text == "continuous";
  FollowSteps(options.session);
  return {};
}

// 1000, 10k: samples a second.
Result<uint64_t> ParseRate(const std::string& text) {
  uint64_t rate = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, rate);
  const bool thousands = result.ptr + 1 == end && (*result.ptr == 'k' || *result.ptr == 'K');
  if (thousands && rate <= 1000) rate *= 1000;
  constexpr uint64_t kLeast = 10;
  constexpr uint64_t kMost = 20'000;
  if (result.ec != std::errc() || (result.ptr != end && !thousands) || rate < kLeast ||
      rate > kMost) {
    return UsageError("--gpu-metrics-frequency: \"" + text + "\" is no rate from 10 to 20000");
  }
  return rate;
}

Status ReadGpuMetrics(const ParsedFlags& flags, ProfileOptions& options) {
  const Flag given =
      flags.Given(Flag::kGpuMetricsDevices) ? Flag::kGpuMetricsDevices : Flag::kGpuMetricsDevice;
  std::string devices = flags.Text(given);
  if (devices == "none") return {};
  if (devices == "help")
    return UsageError("`batchlight profile --gpu-metrics-devices=help` lists GPUs");
  if (devices == "cuda-visible") {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    devices = visible != nullptr && *visible >= '0' && *visible <= '9' ? visible : "all";
  }
  if (!options.counters.sets.empty()) {
    return UsageError(
        "--gpu-metrics-devices and --step-counters both need the GPU's counters: choose one");
  }
  constexpr uint64_t kSecond = 1'000'000'000;
  ASSIGN_OR_RETURN(const uint64_t rate, ParseRate(flags.Text(Flag::kGpuMetricsFrequency)));
  options.session.gpu_sampling.devices = devices;
  options.session.gpu_sampling.interval_ns = kSecond / rate;
  options.gpu_metric_sets = flags.List(Flag::kGpuMetricsSet);
  return {};
}

// --measure-overhead: the program runs several times, to its end each time.
Status ReadMeasureOverhead(const ParsedFlags& flags, ProfileOptions& options) {
  const std::string text = flags.Text(Flag::kMeasureOverhead);
  options.overhead_rounds = text == "true" ? 1
                            : text == "false"
                                ? 0
                                : static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  if (options.overhead_rounds == 0) return {};
  if (options.overhead_rounds > 100) {
    return UsageError("--measure-overhead: at most 100 rounds");
  }
  const capture::SessionOptions& session = options.session;
  const capture::CaptureOptions& capture = session.capture;
  const bool ends_program = (capture.trigger == CaptureTrigger::kNvtx ||
                             capture.trigger == CaptureTrigger::kCudaProfilerApi) &&
                            (capture.range_end == capture::RangeEnd::kStopShutdown ||
                             capture.range_end == capture::RangeEnd::kRepeatShutdown);
  if (ends_program || session.duration_s > 0) {
    return UsageError(
        "--measure-overhead compares whole runs: it does not go with --duration, nor with a "
        "capture range that ends the program (--capture-range-end=stop lets it run on)");
  }
  if (!session.session_name.empty()) {
    return UsageError("--measure-overhead does not go with --session-new and --start-later");
  }
  return {};
}

}  // namespace

Result<int> ParseSignal(const std::string& text) {
  if (text == "none") return 0;
  if (text == "sigkill") return SIGKILL;
  if (text == "sigterm") return SIGTERM;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end || number < 1 || number > SIGRTMAX) {
    return UsageError("--kill: \"" + text +
                      "\" is none of none, sigkill, sigterm, a signal number");
  }
  return number;
}

std::vector<std::string> WithoutEffectNotices(const std::vector<std::string>& flags) {
  if (flags.empty()) return {};
  std::string names;
  for (const std::string& flag : flags) names += (names.empty() ? "" : ", ") + flag;
  return {"not traced yet, so without effect: " + names + "; all else is recorded"};
}

bool RankList::Has(int rank) const {
  if (stretches.empty()) return true;
  return std::any_of(stretches.begin(), stretches.end(), [rank](const Stretch& stretch) {
    return rank >= 0 && unsigned(rank) >= stretch.first && unsigned(rank) <= stretch.last;
  });
}

unsigned RankList::Lowest() const {
  if (stretches.empty()) return 0;
  return std::min_element(stretches.begin(), stretches.end(),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->first;
}

Result<RankList> ParseRanks(const std::string& text) {
  RankList ranks;
  const auto wrong = UsageError("--ranks: \"" + text + "\" is no list such as 0,8-15");
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const char* const stop = text.data() + end;
    RankList::Stretch stretch;
    auto read = std::from_chars(text.data() + begin, stop, stretch.first);
    if (read.ec != std::errc()) return wrong;
    stretch.last = stretch.first;
    if (read.ptr != stop && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, stop, stretch.last);
    }
    if (read.ec != std::errc() || read.ptr != stop || stretch.last < stretch.first) return wrong;
    ranks.stretches.push_back(stretch);
    begin = end + 1;
  }
  return ranks;
}

Result<ProfileOptions> MakeProfileOptions(const ParsedFlags& flags) {
  ProfileOptions options;
  capture::SessionOptions& session = options.session;
  options.without_effect = flags.WithoutEffect();
  session.command = flags.command;
  ASSIGN_OR_RETURN(session.capture, MakeCaptureOptions(flags));
  RETURN_IF_ERROR(ReadTraceOptions(flags, options));
  RETURN_IF_ERROR(ReadBacktraceOptions(flags, options));
  RETURN_IF_ERROR(ReadCpuOptions(flags, options));
  RETURN_IF_ERROR(ReadPythonSampling(flags, options));
  RETURN_IF_ERROR(ReadVariables(flags, session));
  ASSIGN_OR_RETURN(const uint64_t budget,
                   ParseSize(flags, Flag::kBufferBudget, kMostBudgetBytes, "between 1M and 4095M"));
  session.budget_bytes = static_cast<uint32_t>(budget);
  RETURN_IF_ERROR(ReadDiskLimits(flags, session.disk));
  ASSIGN_OR_RETURN(session.kill_signal, ParseSignal(flags.Text(Flag::kKill)));
  if (const char* only = getenv("NSYS_NVTX_PROFILER_REGISTER_ONLY")) {
    session.registered_only = session.registered_only || std::string_view(only) == "1";
  }
  session.extra += session.capture.windows;
  ASSIGN_OR_RETURN(session.monitor, ReadMonitorFlags(flags));
  FollowStepsOfWindows(session);
  RETURN_IF_ERROR(ReadStepDetail(flags, session));
  RETURN_IF_ERROR(ReadStepCounters(flags, options));
  RETURN_IF_ERROR(ReadGpuMetrics(flags, options));
  RETURN_IF_ERROR(ReadStalls(flags, options));
  session.delay_s = flags.Seconds(Flag::kDelay);
  session.duration_s = flags.Seconds(Flag::kDuration);
  session.wait_all = flags.Text(Flag::kWait) == "all";
  session.show_output = flags.Bool(Flag::kShowOutput);
  session.inherit_environment = flags.Bool(Flag::kInheritEnvironment);
  session.record_environment = flags.Bool(Flag::kRecordEnvironment);
  session.wait_for_start = flags.Bool(Flag::kStartLater);
  session.session_name = flags.Text(Flag::kSessionNew);
  if (!session.session_name.empty()) {
    RETURN_IF_ERROR(capture::CheckSessionName(session.session_name));
  }
  if (session.wait_for_start && session.session_name.empty()) {
    return UsageError("--start-later needs --session-new=NAME, for `batchlight start` to reach it");
  }
  if (!session.capture.stop_on_exit && session.duration_s <= 0) {
    return UsageError("--stop-on-exit=false needs --duration");
  }
  if (flags.Given(Flag::kRunAs)) {
    ASSIGN_OR_RETURN(session.run_as, capture::FindUser(flags.Text(Flag::kRunAs)));
  }
  RETURN_IF_ERROR(ReadMeasureOverhead(flags, options));
  if (const std::string ranks = flags.Text(Flag::kRanks); !ranks.empty()) {
    ASSIGN_OR_RETURN(options.ranks, ParseRanks(ranks));
  }
  return options;
}

}  // namespace batchlight::cli
