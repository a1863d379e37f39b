#include "cli/flags/backtrace_flags.h"

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "cli/flags/flag_number.h"
#include "format/backtraces.h"
#include "format/control.h"

namespace batchlight::cli {
namespace {

constexpr uint64_t kMostNs = 1'000'000'000;
using format::kCallKindWords;

// "kernel:500": which kinds, and from how many nanoseconds on.
struct Wanted {
  std::array<std::optional<uint64_t>, kCallKindWords.size()> from_ns;

  bool Any() const {
    for (const auto& ns : from_ns) {
      if (ns) return true;
    }
    return false;
  }
};

Status TakeWord(std::string_view word, uint64_t default_ns, Wanted& wanted) {
  const size_t colon = word.find(':');
  const std::string_view kind = word.substr(0, colon);
  uint64_t ns = default_ns;
  if (colon != std::string_view::npos) {
    ASSIGN_OR_RETURN(ns, ReadNumber("--cudabacktrace", word.substr(colon + 1), 0, kMostNs));
  }
  const bool all = kind == "all" || kind == "true";
  bool known = all || kind == "none" || kind == "false";
  for (size_t i = 0; i < kCallKindWords.size(); ++i) {
    if (!all && kind != kCallKindWords[i]) continue;
    wanted.from_ns[i] = ns;
    known = true;
  }
  if (known) return {};
  return UsageError("--cudabacktrace: " + std::string(kind) +
                    " is none of all, kernel, memory, sync, other, none");
}

Status ReadCuda(const ParsedFlags& flags, ProfileOptions& options) {
  ASSIGN_OR_RETURN(const uint64_t default_ns,
                   NumberOf(flags, Flag::kCudaBacktraceThreshold, 0, kMostNs));
  Wanted wanted;
  for (const std::string& word : flags.List(Flag::kCudaBacktrace)) {
    RETURN_IF_ERROR(TakeWord(word, default_ns, wanted));
  }
  if (!wanted.Any()) {
    if (flags.Given(Flag::kCudaBacktraceThreshold)) {
      options.without_effect.push_back(Spelled(flags, Flag::kCudaBacktraceThreshold) +
                                       " without --cudabacktrace");
    }
    return {};
  }
  if ((options.session.trace & format::kTraceCuda) == 0) {
    options.without_effect.push_back(Spelled(flags, Flag::kCudaBacktrace) +
                                     " without cuda in --trace");
    return {};
  }
  std::string list;
  for (size_t i = 0; i < kCallKindWords.size(); ++i) {
    if (!wanted.from_ns[i]) continue;
    list += (list.empty() ? "" : ",") + std::string(kCallKindWords[i]) + ":" +
            std::to_string(*wanted.from_ns[i]);
  }
  options.session.extra += "cuda.backtrace=" + list + "\n";
  options.session.names_program_stacks = true;
  return {};
}

Status ReadOs(const ParsedFlags& flags, ProfileOptions& options) {
  ASSIGN_OR_RETURN(const uint64_t from_ns,
                   NumberOf(flags, Flag::kOsrtBacktraceThreshold, 0, kMostNs));
  ASSIGN_OR_RETURN(const uint64_t frames,
                   NumberOf(flags, Flag::kOsrtBacktraceDepth, 0, format::kMostBacktraceFrames));
  if ((options.session.trace & format::kTraceOs) == 0) {
    for (const Flag flag : {Flag::kOsrtBacktraceThreshold, Flag::kOsrtBacktraceDepth}) {
      if (flags.Given(flag)) {
        options.without_effect.push_back(Spelled(flags, flag) + " without osrt in --trace");
      }
    }
    return {};
  }
  if (frames == 0) return {};
  options.session.extra += "osrt.backtrace_ns=" + std::to_string(from_ns) + "\n" +
                           "osrt.backtrace_frames=" + std::to_string(frames) + "\n";
  options.session.names_program_stacks = true;
  return {};
}

}  // namespace

Status ReadBacktraceOptions(const ParsedFlags& flags, ProfileOptions& options) {
  RETURN_IF_ERROR(ReadCuda(flags, options));
  RETURN_IF_ERROR(ReadOs(flags, options));
  if (!flags.Bool(Flag::kResolveSymbols)) options.session.names_program_stacks = false;
  return {};
}

}  // namespace batchlight::cli
