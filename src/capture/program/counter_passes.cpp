#include "capture/program/counter_passes.h"

#include "base/split.h"

namespace batchlight::capture {
namespace {

Result<PrintedLines> Ask(std::vector<std::string> words) {
  words.insert(words.begin(), "counters");
  ASSIGN_OR_RETURN(HostAnswer answer, AskHost(words));
  if (answer.known) return std::move(answer.lines);
  const std::string why = FirstValue(answer.lines, "why");
  if (!why.empty()) return InputError(why);
  return InputError("this machine has no NVIDIA driver or no GPU");
}

std::vector<std::string> Values(const PrintedLines& lines, const std::string& key) {
  std::vector<std::string> values;
  for (const auto& [name, value] : lines) {
    if (name == key) values.push_back(value);
  }
  return values;
}

}  // namespace

Result<PassPlan> PlanPasses(const PassRequest& request) {
  std::vector<std::string> words = {request.cupti_folder, "plan", request.samples ? "pm" : "range",
                                    request.chip};
  for (const std::string& name : request.always) words.push_back("+" + name);
  words.insert(words.end(), request.others.begin(), request.others.end());
  ASSIGN_OR_RETURN(const PrintedLines lines, Ask(std::move(words)));
  PassPlan plan{.library = FirstValue(lines, "cupti"),
                .chip = FirstValue(lines, "chip"),
                .missing = Values(lines, "missing"),
                .several = Values(lines, "several")};
  for (const std::string& pass : Values(lines, "pass")) {
    std::vector<std::string>& names = plan.passes.emplace_back();
    for (const std::string_view name : SplitAt(pass, ',')) names.emplace_back(name);
  }
  return plan;
}

Result<std::vector<std::string>> KnownChips(const std::string& cupti_folder) {
  ASSIGN_OR_RETURN(const PrintedLines lines, Ask({cupti_folder, "chips"}));
  return Values(lines, "chip");
}

Result<std::vector<MetricLine>> MetricsOfChip(const PassRequest& request) {
  ASSIGN_OR_RETURN(const PrintedLines lines, Ask({request.cupti_folder, "metrics",
                                                  request.samples ? "pm" : "range", request.chip}));
  std::vector<MetricLine> metrics;
  for (const std::string& line : Values(lines, "metric")) {
    const std::vector<std::string_view> parts = SplitAt(line, '\t');
    if (parts.size() != 4) continue;
    metrics.push_back({std::string(parts[0]), std::string(parts[1]), std::string(parts[2]),
                       std::string(parts[3])});
  }
  return metrics;
}

}  // namespace batchlight::capture
