#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

std::string EvidenceText(const Finding& finding) {
  std::string text;
  for (const Evidence& item : finding.evidence) {
    text += (text.empty() ? "" : "; ") + item.kind + " " + item.name;
    if (item.count > 0) text += " (" + std::to_string(item.count) + " times)";
    if (item.per_step_ns > 0) {
      text += " " + std::to_string(std::llround(item.per_step_ns / 1000)) + " µs a step";
    }
  }
  return text;
}

std::string SameTimeText(const Finding& finding) {
  std::string text;
  for (const std::string_view rule : finding.same_time_as) {
    text.append(text.empty() ? "" : " ").append(rule);
  }
  return text;
}

Cell EstimateCell(double gain_ns, double ns) { return gain_ns > 0 ? NanosecondsCell(ns) : Cell{}; }

std::string PatchText(const Finding& finding) {
  if (finding.patch.empty()) return "";
  const std::string& place = finding.patch.place;
  return (place.empty() ? "" : "@@ " + place + " @@\n") + finding.patch.diff;
}

const Columns<Finding>& AdviceColumns() {
  static const Columns<Finding> columns = {
      {TextColumn("rule", "Rule", "Name of the rule, for --fail-on"),
       [](const Finding& row) { return std::string(row.rule); }},
      {TextColumn("problem", "Problem", ""), &Finding::title},
      {TimeColumn("gain", "Gain per Step", "Estimate; empty where none can be made"),
       [](const Finding& row) { return EstimateCell(row.gain_ns, row.gain_ns); }},
      {TimeColumn("uncertainty", "Uncertainty", "How far off the estimate may be"),
       [](const Finding& row) { return EstimateCell(row.gain_ns, row.uncertainty_ns); }},
      {TimeColumn("run_gain", "Gain of Run", "Estimate of what the run saves beside its steps"),
       [](const Finding& row) { return EstimateCell(row.run_gain_ns, row.run_gain_ns); }},
      {PercentColumn("run_share", "Share of Run", "Both gains, of the run's wall time"),
       [](const Finding& row) { return row.run_share > 0 ? Cell{row.run_share * 100} : Cell{}; }},
      {PercentColumn("loop_share", "Share of Loop",
                     "Both gains, of the steps and what lies between them; empty: paid once"),
       [](const Finding& row) { return row.loop_share > 0 ? Cell{row.loop_share * 100} : Cell{}; }},
      {TextColumn("seen", "Seen", ""), &Finding::seen},
      {TextColumn("why", "Why", ""), &Finding::why},
      {TextColumn("action", "Action", ""), &Finding::action},
      {TextColumn("evidence", "Evidence", "What the finding rests on, with mean time per step"),
       EvidenceText},
      {TextColumn("same_time_as", "Same Time As", "Rules whose larger gain is in part this one"),
       SameTimeText},
      {TextColumn("patch", "Patch", "Lines to change, with file and line where they are known"),
       PatchText}};
  return columns;
}

}  // namespace

ResultTable MakeAdviceTable(const RunOverview& overview) {
  return TableOf("advice", "What to change", AdviceColumns(), overview.findings);
}

}  // namespace batchlight
