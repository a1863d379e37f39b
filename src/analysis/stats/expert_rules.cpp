#include <array>
#include <charconv>

#include "analysis/stats/event_names.h"
#include "analysis/stats/expert_rule.h"

namespace batchlight::stats {
namespace {

std::string_view NoCopies(const Store& s) {
  return s.memcpys.size() == 0 || s.api_calls.size() == 0 ? "CUDA copies and calls" : "";
}
std::string_view NoSets(const Store& s) {
  return s.memsets.size() == 0 || s.api_calls.size() == 0 ? "CUDA memory sets and calls" : "";
}
std::string_view NoCalls(const Store& s) { return s.api_calls.size() == 0 ? "CUDA calls" : ""; }
std::string_view NoGpu(const Store& s) {
  return s.kernels.size() + s.memcpys.size() + s.memsets.size() + s.graph_launches.size() == 0
             ? "GPU work"
             : "";
}

constexpr std::string_view kCommon =
    "[:rows=<limit>][:start=<ns>][:end=<ns>][:nvtx=<range[@domain]>][:process=<pid>]"
    "[:thread=<tid>]";
constexpr std::string_view kGaps =
    "[:rows=<limit>][:start=<ns>][:end=<ns>][:nvtx=<range[@domain]>][:process=<pid>]"
    "[:thread=<tid>][:gap=<ms>]";
constexpr std::string_view kUtilization =
    "[:rows=<limit>][:start=<ns>][:end=<ns>][:nvtx=<range[@domain]>][:process=<pid>]"
    "[:thread=<tid>][:threshold=<percent>][:chunks=<count>]";

constexpr auto kRules = std::to_array<ExpertRule>({
    {"cuda_memcpy_async", "CUDA Async Memcpy with Pageable Memory", kCommon,
     "Asynchronous copies that pageable memory makes synchronous.", NoCopies, FindPageableCopies},
    {"cuda_memcpy_sync", "CUDA Synchronous Memcpy", kCommon, "Copies that block the host.",
     NoCopies, FindBlockingCopies},
    {"cuda_memset_sync", "CUDA Synchronous Memset", kCommon, "Memory sets that block the host.",
     NoSets, FindBlockingSets},
    {"cuda_api_sync", "CUDA Synchronization APIs", kCommon,
     "Calls that wait until the GPU has done all its work.", NoCalls, FindBlockingWaits},
    {"gpu_gaps", "GPU Gaps", kGaps, "Times in which a GPU has nothing to do; 500 ms if not given.",
     NoGpu, FindGpuGaps},
    {"gpu_time_util", "GPU Time Utilization", kUtilization,
     "Times in which a GPU works less than the threshold, 50 % if not given, in 30 chunks.", NoGpu,
     FindLowUtilization},
});

Status BadValue(std::string_view key, std::string_view value) {
  return UsageError(std::string(key) + "= takes a number, not \"" + std::string(value) + "\"");
}

template <typename T>
Status Read(std::string_view key, std::string_view value, T& number) {
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
  return whole ? Status() : BadValue(key, value);
}

// The first range of this name; the domain is the default one if none is given.
Result<TimeWindow> RangeWindow(const Query& query, std::string_view text) {
  const size_t at = text.rfind('@');
  const std::string_view name = text.substr(0, at);
  const std::string_view domain = at == std::string_view::npos ? "" : text.substr(at + 1);
  const std::string wanted = std::string(domain) + ':' + std::string(name);
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  size_t best = SIZE_MAX;
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (RangeName(query, row) != wanted) continue;
    if (best == SIZE_MAX || ranges.start_ns[row] < ranges.start_ns[best]) best = row;
  }
  if (best == SIZE_MAX) return UsageError("nvtx=: there is no range \"" + std::string(text) + "\"");
  return TimeWindow{ranges.start_ns[best], ranges.end_ns[best]};
}

}  // namespace

std::span<const ExpertRule> ExpertRules() { return kRules; }

const ExpertRule* FindExpertRule(std::string_view name) {
  for (const ExpertRule& rule : kRules) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

Result<RuleOptions> ParseRuleOptions(const Query& query) {
  RuleOptions options;
  bool has_start = false;
  bool has_end = false;
  TimeWindow range = query.window;
  for (const std::string& arg : query.args) {
    const size_t equals = arg.find('=');
    const std::string_view key = std::string_view(arg).substr(0, equals);
    const std::string_view value =
        equals == std::string::npos ? std::string_view() : std::string_view(arg).substr(equals + 1);
    if (key == "rows") {
      RETURN_IF_ERROR(Read(key, value, options.rows));
    } else if (key == "start") {
      RETURN_IF_ERROR(Read(key, value, options.window.start_ns));
      has_start = true;
    } else if (key == "end") {
      RETURN_IF_ERROR(Read(key, value, options.window.end_ns));
      has_end = true;
    } else if (key == "nvtx") {
      ASSIGN_OR_RETURN(range, RangeWindow(query, value));
    } else if (key == "process") {
      RETURN_IF_ERROR(Read(key, value, options.process));
    } else if (key == "thread") {
      RETURN_IF_ERROR(Read(key, value, options.thread));
    } else if (key == "gap") {
      RETURN_IF_ERROR(Read(key, value, options.gap_ms));
    } else if (key == "threshold") {
      RETURN_IF_ERROR(Read(key, value, options.threshold_percent));
    } else if (key == "chunks") {
      RETURN_IF_ERROR(Read(key, value, options.chunks));
      if (options.chunks < 1 || options.chunks > 1000) {
        return UsageError("chunks= takes a number from 1 to 1000");
      }
    }
  }
  // Times given as numbers win over those of the range.
  if (!has_start) options.window.start_ns = range.start_ns;
  if (!has_end) options.window.end_ns = range.end_ns;
  return options;
}

Result<RuleResult> RunRule(const ExpertRule& rule, const Query& query) {
  for (const std::string& arg : query.args) {
    const std::string key = '[' + (':' + arg.substr(0, arg.find('='))) + '=';
    if (arg.find('=') != std::string::npos && rule.usage.find(key) != std::string_view::npos) {
      continue;
    }
    return UsageError("rule " + std::string(rule.name) + " has no option \"" + arg + "\": use " +
                      std::string(rule.name) + std::string(rule.usage));
  }
  ASSIGN_OR_RETURN(RuleResult result, rule.run(query));
  ASSIGN_OR_RETURN(const RuleOptions options, ParseRuleOptions(query));
  result.limited = options.rows > 0 && result.rows.row_count >= static_cast<size_t>(options.rows);
  result.rows.name = rule.name;
  result.rows.title = rule.title;
  return result;
}

}  // namespace batchlight::stats
