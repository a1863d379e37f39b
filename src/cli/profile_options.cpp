#include "cli/profile_options.h"

#include <limits.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <string_view>

#include "base/file.h"
#include "base/nearest.h"
#include "capture/session_protocol.h"

namespace batchlight::cli {
namespace {

using format::CaptureTrigger;

struct TraceName {
  std::string_view name;
  uint32_t bits;  // 0 = not traced yet
};

// Names of --trace, as Nsight Systems knows them, and python.
constexpr TraceName kTraceNames[] = {
    {"cuda", format::kTraceCuda},
    {"cuda-hw", format::kTraceCuda},
    {"cuda-sw", format::kTraceCuda},
    {"nvtx", format::kTraceNvtx},
    {"python", format::kTracePython},
    {"pytorch", format::kTracePython},
    {"nccl", format::kTraceNccl},
    {"none", 0},
    {"cublas", 0},
    {"cublas-verbose", 0},
    {"cudla", 0},
    {"cudla-verbose", 0},
    {"cudnn", 0},
    {"cusolver", 0},
    {"cusolver-verbose", 0},
    {"cusparse", 0},
    {"cusparse-verbose", 0},
    {"dx11", 0},
    {"dx12", 0},
    {"gds", 0},
    {"mpi", 0},
    {"nvvideo", 0},
    {"openacc", 0},
    {"opengl", 0},
    {"opengl-annotations", 0},
    {"openmp", 0},
    {"openxr", 0},
    {"oshmem", 0},
    {"osrt", 0},
    {"python-gil", 0},
    {"s3", 0},
    {"s3-verbose", 0},
    {"syscall", 0},
    {"tegra-accelerators", 0},
    {"ucx", 0},
    {"vulkan", 0},
    {"vulkan-annotations", 0},
    {"wddm", 0},
};

std::string Lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

Status ReadTrace(const ParsedFlags& flags, ProfileOptions& options) {
  std::string later;
  bool none = false;
  for (const std::string& item : flags.List(Flag::kTrace)) {
    const std::string wanted = Lower(item);  // documents spell cuDNN and cudnn
    const auto* found = std::find_if(std::begin(kTraceNames), std::end(kTraceNames),
                                     [&](const TraceName& name) { return name.name == wanted; });
    if (found == std::end(kTraceNames)) {
      std::vector<std::string_view> known;
      for (const TraceName& name : kTraceNames) known.push_back(name.name);
      const std::string nearest = Nearest(wanted, known);
      return UsageError("--trace: unknown name " + item +
                        (nearest.empty() ? "; see --help" : "; did you mean " + nearest + "?"));
    }
    none = none || wanted == "none";
    if (found->bits == 0 && wanted != "none") later += (later.empty() ? "" : ", ") + item;
    options.session.trace |= found->bits;
  }
  // The libraries of CUDA bring CUDA with them, as in Nsight Systems.
  if (later.find("cu") != std::string::npos) options.session.trace |= format::kTraceCuda;
  if (none && flags.List(Flag::kTrace).size() > 1) {
    return UsageError("--trace: none stands alone");
  }
  if (!later.empty()) {
    options.notices.push_back("not traced yet: " + later + "; all else is recorded");
  }
  return {};
}

void ReadPyTorch(const ParsedFlags& flags, ProfileOptions& options) {
  const std::vector<std::string> traces = flags.List(Flag::kTrace);
  const bool all_off = traces == std::vector<std::string>{"none"};
  if (all_off && !flags.Given(Flag::kPyTorch)) return;
  uint32_t& trace = options.session.trace;
  for (const std::string& item : flags.List(Flag::kPyTorch)) {
    if (item.starts_with("functions-trace")) trace |= format::kTraceModules;
    if (item.starts_with("autograd")) trace |= format::kTraceOperators;
    if (item == "autograd-shapes-nvtx") trace |= format::kTraceShapes;
    // Sizes are those of the operators' inputs, so operators are recorded for them.
    if (item == "functions-trace-shapes") trace |= format::kTraceOperators | format::kTraceShapes;
  }
  const uint32_t through_python = format::kTraceModules | format::kTraceOperators;
  // The bridge inside Python carries all of these; NVTX calls of a PyTorch without CUDA, too.
  if ((trace & (through_python | format::kTraceNvtx)) != 0) trace |= format::kTracePython;
}

Result<uint32_t> ParseSize(const std::string& text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  const std::string unit = Lower(std::string(result.ptr, end));
  const int shift = unit == "k" || unit == "kib"   ? 10
                    : unit == "m" || unit == "mib" ? 20
                    : unit == "g" || unit == "gib" ? 30
                    : unit.empty()                 ? 0
                                                   : -1;
  const bool fits = result.ec == std::errc() && shift >= 0 && number <= UINT32_MAX >> shift;
  if (!fits || number << shift < (1u << 20)) {
    return UsageError("--buffer-budget: \"" + text + "\" is no size between 1M and 4095M");
  }
  return static_cast<uint32_t>(number << shift);
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
  std::vector<std::string> parts;  // name, then N and mode in any number
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string& name = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    // When the file is made makes no difference to what is in it.
    if (part == "defer" || part == "sync" || part == "async") continue;
    const char* end = part.data() + part.size();
    const auto result = std::from_chars(part.data(), end, options.repeat);
    if (result.ec != std::errc() || result.ptr != end || options.repeat == 0) {
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

Status ReadDomains(const ParsedFlags& flags, capture::SessionOptions& options) {
  const bool include = flags.Given(Flag::kNvtxDomainInclude);
  const bool exclude = flags.Given(Flag::kNvtxDomainExclude);
  if (include && exclude) {
    return UsageError("--nvtx-domain-include and --nvtx-domain-exclude exclude each other");
  }
  options.domains = flags.List(include ? Flag::kNvtxDomainInclude : Flag::kNvtxDomainExclude);
  options.exclude_domains = exclude;
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

// Lines key=value of ControlPage::extra, as inject/cupti/options.h reads them.
std::string CudaOptions(const ParsedFlags& flags) {
  const auto on = [&](Flag flag) { return flags.Bool(flag) ? "1\n" : "0\n"; };
  std::string text;
  text += std::string("cuda.all_apis=") + on(Flag::kCudaTraceAllApis);
  text += std::string("cuda.memory_usage=") + on(Flag::kCudaMemoryUsage);
  text += std::string("cuda.event_trace=") + on(Flag::kCudaEventTrace);
  text += std::string("cuda.um_cpu_page_faults=") + on(Flag::kCudaUmCpuPageFaults);
  text += std::string("cuda.um_gpu_page_faults=") + on(Flag::kCudaUmGpuPageFaults);
  text += std::string("cuda.flush_on_profiler_stop=") + on(Flag::kFlushOnCudaProfilerStop);
  const bool nodes = flags.Text(Flag::kCudaGraphTrace).starts_with("node");
  text += std::string("cuda.graph_trace=") + (nodes ? "node\n" : "graph\n");
  text += "cuda.flush_interval_ms=" + flags.Text(Flag::kCudaFlushInterval) + "\n";
  if (flags.Given(Flag::kCudaRecord)) {
    text += "cuda.record=" + flags.Text(Flag::kCudaRecord) + "\n";
  }
  return text;
}

Status ReadFunctionsTrace(const ParsedFlags& flags, capture::SessionOptions& options) {
  const std::string path = flags.Text(Flag::kPythonFunctionsTrace);
  if (path.empty()) return {};
  char absolute[PATH_MAX];  // the program may change its folder
  if (realpath(path.c_str(), absolute) == nullptr) {
    return InputError("--python-functions-trace: cannot read " + path);
  }
  options.functions_trace = absolute;
  options.trace |= format::kTracePython;
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

// --steps and --every: windows that the program itself opens and closes, all in one recording.
Status ReadStepWindows(const ParsedFlags& flags, capture::CaptureOptions& options) {
  const bool steps = flags.Given(Flag::kSteps);
  const bool every = flags.Given(Flag::kEvery);
  if (!steps && !every) {
    if (flags.Given(Flag::kWindow)) return UsageError("--window needs --every");
    if (flags.Given(Flag::kStepRange)) return UsageError("--step-range needs --steps or --every");
    return {};
  }
  if (steps && every) return UsageError("choose one of --steps and --every");
  if (options.trigger != CaptureTrigger::kNone) {
    return UsageError("--steps and --every do not go with --capture-range");
  }
  if (steps) {
    const std::string text = flags.Text(Flag::kSteps);
    const size_t colon = text.find(':');
    char* end = nullptr;
    const uint64_t first = std::strtoull(text.c_str(), &end, 10);
    const uint64_t last =
        colon == std::string::npos ? 0 : std::strtoull(text.c_str() + colon + 1, nullptr, 10);
    if (colon == std::string::npos || *end != ':' || first == 0 || last < first) {
      return UsageError("--steps: \"" + text + "\" is not A:B with 1 <= A <= B, such as 10:20");
    }
    options.windows_start_open = first == 1;
    options.windows =
        "window.first=" + std::to_string(first) + "\nwindow.last=" + std::to_string(last) + "\n";
  } else {
    const uint64_t length = std::strtoull(flags.Text(Flag::kEvery).c_str(), nullptr, 10);
    const uint64_t size = std::strtoull(flags.Text(Flag::kWindow).c_str(), nullptr, 10);
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

Result<ProfileOptions> MakeProfileOptions(const ParsedFlags& flags) {
  ProfileOptions options;
  capture::SessionOptions& session = options.session;
  options.notices = flags.Notices();
  session.command = flags.command;
  ASSIGN_OR_RETURN(session.capture, MakeCaptureOptions(flags));
  RETURN_IF_ERROR(ReadTrace(flags, options));
  ReadPyTorch(flags, options);
  RETURN_IF_ERROR(ReadFunctionsTrace(flags, session));
  RETURN_IF_ERROR(ReadDomains(flags, session));
  RETURN_IF_ERROR(ReadVariables(flags, session));
  ASSIGN_OR_RETURN(session.budget_bytes, ParseSize(flags.Text(Flag::kBufferBudget)));
  ASSIGN_OR_RETURN(session.kill_signal, ParseSignal(flags.Text(Flag::kKill)));
  if (const char* only = getenv("NSYS_NVTX_PROFILER_REGISTER_ONLY")) {
    session.registered_only = session.registered_only || std::string_view(only) == "1";
  }
  session.extra = CudaOptions(flags) + session.capture.windows;
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
  return options;
}

}  // namespace batchlight::cli
