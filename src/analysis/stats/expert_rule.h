// The six CUDA rules of `nsys analyze`, with its names, options and columns. One table in
// expert_rules.cpp lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/result/row_source.h"
#include "analysis/stats/stats_report.h"
#include "base/status.h"

namespace batchlight::stats {

struct RuleResult {
  RowSource rows;
  std::string advice;    // what the rows mean and what to do, or that there is no problem
  bool limited = false;  // rows= cut the table
};

struct ExpertRule {
  std::string_view name;
  std::string_view title;
  std::string_view usage;
  std::string_view help;
  std::string_view (*missing)(const Store& store);  // data it needs that is not there, else ""
  // Errors (kUsage): nvtx= names no range.
  Result<RuleResult> (*run)(const Query& query);
};

std::span<const ExpertRule> ExpertRules();
const ExpertRule* FindExpertRule(std::string_view name);  // null if there is none
// Before an input is read. Errors: kUsage.
Status CheckRuleArguments(const ExpertRule& rule, std::span<const std::string> args);
// Runs it with checked arguments. Errors (kUsage): nvtx= names no range.
Result<RuleResult> RunRule(const ExpertRule& rule, const Query& query);

// The options as query.args has them. Errors (kUsage): nvtx= names no range.
struct RuleOptions {
  int64_t rows = 50;  // -1: all
  TimeWindow window;  // of start=, end= or the first range of nvtx=
  int64_t process = -1;
  int64_t thread = -1;
  double gap_ms = 500;
  double threshold_percent = 50;
  int64_t chunks = 30;
};
Result<RuleOptions> ReadRuleOptions(const Query& query);

// copy_rules.cpp
Result<RuleResult> FindPageableCopies(const Query& query);  // cuda_memcpy_async
Result<RuleResult> FindBlockingCopies(const Query& query);  // cuda_memcpy_sync
Result<RuleResult> FindBlockingSets(const Query& query);    // cuda_memset_sync
Result<RuleResult> FindBlockingWaits(const Query& query);   // cuda_api_sync
// utilization_rules.cpp
Result<RuleResult> FindGpuGaps(const Query& query);         // gpu_gaps
Result<RuleResult> FindLowUtilization(const Query& query);  // gpu_time_util

}  // namespace batchlight::stats
