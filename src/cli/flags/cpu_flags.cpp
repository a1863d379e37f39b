#include "cli/flags/cpu_flags.h"

#include <string>

#include "cli/flags/flag_number.h"

namespace batchlight::cli {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kMostFrequency = 10'000;
constexpr uint64_t kMostPythonFrequency = 2000;
constexpr uint64_t kMostPeriodNs = kNsPerSecond;

Result<int64_t> PeriodNs(const ParsedFlags& flags) {
  if (flags.Text(Flag::kSamplingPeriod) != "auto") {
    if (flags.Given(Flag::kSamplingFrequency)) {
      return UsageError("--sampling-period and --sampling-frequency exclude each other");
    }
    ASSIGN_OR_RETURN(const uint64_t period, NumberOf(flags, Flag::kSamplingPeriod,
                                                     kNsPerSecond / kMostFrequency, kMostPeriodNs));
    return static_cast<int64_t>(period);
  }
  ASSIGN_OR_RETURN(const uint64_t frequency,
                   NumberOf(flags, Flag::kSamplingFrequency, 1, kMostFrequency));
  return kNsPerSecond / static_cast<int64_t>(frequency);
}

}  // namespace

Status ReadCpuOptions(const ParsedFlags& flags, ProfileOptions& options) {
  capture::CpuOptions& cpu = options.session.cpu;
  const auto read_scope = [&](Flag flag, const char* what) {
    const std::string scope = flags.Text(flag);
    if (scope == "system-wide") {
      options.without_effect.push_back(Spelled(flags, flag) + " (" + what +
                                       " of the program's own processes are recorded)");
    }
    return scope != "none";
  };
  cpu.samples = read_scope(Flag::kSample, "samples");
  cpu.switches = read_scope(Flag::kCpuCtxSw, "switches");
  ASSIGN_OR_RETURN(cpu.period_ns, PeriodNs(flags));
  ASSIGN_OR_RETURN(const uint64_t per_stack, NumberOf(flags, Flag::kSamplesPerBacktrace, 1, 32));
  cpu.samples_per_stack = static_cast<uint32_t>(per_stack);
  cpu.resolve_symbols = flags.Bool(Flag::kResolveSymbols);
  const std::string backtrace = flags.Text(Flag::kBacktrace);
  cpu.backtrace = backtrace == "none" ? capture::Backtrace::kNone
                  : backtrace == "fp" ? capture::Backtrace::kFramePointers
                                      : capture::Backtrace::kUnwindTables;
  if (!cpu.samples) {
    for (const Flag flag : {Flag::kSamplingFrequency, Flag::kSamplingPeriod,
                            Flag::kSamplesPerBacktrace, Flag::kBacktrace}) {
      if (flags.Given(flag)) {
        options.without_effect.push_back(Spelled(flags, flag) + " without --sample");
      }
    }
  } else if (backtrace == "lbr") {
    options.without_effect.push_back(
        "--backtrace=lbr (the processor's branch records; unwind tables are used instead)");
  }
  return {};
}

Status ReadPythonSampling(const ParsedFlags& flags, ProfileOptions& options) {
  capture::SessionOptions& session = options.session;
  ASSIGN_OR_RETURN(const uint64_t frequency,
                   NumberOf(flags, Flag::kPythonSamplingFrequency, 1, kMostPythonFrequency));
  session.python_samples_asked =
      flags.Given(Flag::kPythonSampling) || flags.Given(Flag::kPythonSamplingFrequency);
  if (!flags.Bool(Flag::kPythonSampling)) {
    const std::vector<std::string> traced = flags.List(Flag::kTrace);
    if (std::find(traced.begin(), traced.end(), "python-gil") != traced.end()) {
      options.without_effect.push_back(
          "python-gil in --trace with --python-sampling=false (samples tell who waits)");
    }
    return {};
  }
  if (session.python_samples_asked) session.trace |= format::kTracePython;
  if ((session.trace & format::kTracePython) == 0) return {};
  session.trace |= format::kTracePythonSamples;
  session.python_period_ns = kNsPerSecond / static_cast<int64_t>(frequency);
  return {};
}

std::vector<std::string> CpuFlagsOfStart(const ParsedFlags& flags) {
  std::vector<std::string> given;
  for (const Flag flag : {Flag::kSample, Flag::kCpuCtxSw}) {
    if (flags.Given(flag) && flags.Text(flag) != "none") {
      given.push_back(Spelled(flags, flag) + " (give it to launch)");
    }
  }
  return given;
}

}  // namespace batchlight::cli
