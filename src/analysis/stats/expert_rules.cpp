#include <array>

#include "analysis/stats/expert_rule.h"
#include "analysis/stats/range_choice.h"
#include "analysis/stats/report_arguments.h"

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
    "[:rows=<limit>][:start=<ns>][:end=<ns>][:nvtx=<range[@domain][/index]>][:process=<pid>]"
    "[:thread=<tid>]";
constexpr std::string_view kGaps =
    "[:rows=<limit>][:start=<ns>][:end=<ns>][:nvtx=<range[@domain][/index]>][:process=<pid>]"
    "[:thread=<tid>][:gap=<ms>]";
constexpr std::string_view kUtilization =
    "[:rows=<limit>][:start=<ns>][:end=<ns>][:nvtx=<range[@domain][/index]>][:process=<pid>]"
    "[:thread=<tid>][:threshold=<percent>][:chunks=<chunks>]";

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

}  // namespace

std::span<const ExpertRule> ExpertRules() { return kRules; }

const ExpertRule* FindExpertRule(std::string_view name) {
  for (const ExpertRule& rule : kRules) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

Result<RuleOptions> ReadRuleOptions(const Query& query) {
  RuleOptions options;
  options.window = query.window;
  if (const auto range = ArgumentValue(query.args, "nvtx")) {
    auto row = FindRange(query.store, *range);
    if (!row.ok()) return Status(row.status()).WithContext("nvtx=");
    options.window = RangeTime(query.store, row.value());
  }
  // Times given as numbers win over those of the range.
  options.window.start_ns = ArgumentInteger(query.args, "start", options.window.start_ns);
  options.window.end_ns = ArgumentInteger(query.args, "end", options.window.end_ns);
  options.rows = ArgumentInteger(query.args, "rows", options.rows);
  options.process = ArgumentInteger(query.args, "process", options.process);
  options.thread = ArgumentInteger(query.args, "thread", options.thread);
  options.gap_ms = ArgumentReal(query.args, "gap", options.gap_ms);
  options.threshold_percent = ArgumentReal(query.args, "threshold", options.threshold_percent);
  options.chunks = ArgumentInteger(query.args, "chunks", options.chunks);
  return options;
}

Status CheckRuleArguments(const ExpertRule& rule, std::span<const std::string> args) {
  const std::string whose = "rule " + std::string(rule.name);
  RETURN_IF_ERROR(CheckArguments(whose, rule.usage, args));
  const int64_t start_ns = ArgumentInteger(args, "start", INT64_MIN);
  if (start_ns <= ArgumentInteger(args, "end", INT64_MAX)) return Status();
  return UsageError(whose + ": end= is before start=");
}

Result<RuleResult> RunRule(const ExpertRule& rule, const Query& query) {
  ASSIGN_OR_RETURN(RuleResult result, rule.run(query));
  ASSIGN_OR_RETURN(const RuleOptions options, ReadRuleOptions(query));
  result.limited = options.rows > 0 && result.rows.row_count >= static_cast<size_t>(options.rows);
  result.rows.name = rule.name;
  result.rows.title = rule.title;
  return result;
}

}  // namespace batchlight::stats
