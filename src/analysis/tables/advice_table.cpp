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

struct AdviceRow : Finding {
  int32_t rank = -1;
};

const Columns<AdviceRow>& AdviceColumns() {
  static const Columns<AdviceRow> columns = {
      {TextColumn("rule", "Rule", "Name of the rule, for --fail-on"),
       [](const AdviceRow& row) { return std::string(row.rule); }},
      {TextColumn("problem", "Problem", ""), &Finding::title},
      {TimeColumn("gain", "Gain per Step", "Estimate; empty where none can be made"),
       [](const AdviceRow& row) { return EstimateCell(row.gain_ns, row.gain_ns); }},
      {TimeColumn("uncertainty", "Uncertainty", "How far off the estimate may be"),
       [](const AdviceRow& row) { return EstimateCell(row.gain_ns, row.uncertainty_ns); }},
      {TimeColumn("run_gain", "Gain of Run", "Estimate of what the run saves beside its steps"),
       [](const AdviceRow& row) { return EstimateCell(row.run_gain_ns, row.run_gain_ns); }},
      {PercentColumn("run_share", "Share of Run", "Both gains, of the run's wall time"),
       [](const AdviceRow& row) { return row.run_share > 0 ? Cell{row.run_share * 100} : Cell{}; }},
      {PercentColumn("loop_share", "Share of Loop",
                     "Both gains, of the steps and what lies between them; empty: paid once"),
       [](const AdviceRow& row) {
         return row.loop_share > 0 ? Cell{row.loop_share * 100} : Cell{};
       }},
      {TextColumn("seen", "Seen", ""), &Finding::seen},
      {TextColumn("why", "Why", ""), &Finding::why},
      {TextColumn("action", "Action", ""), &Finding::action},
      {TextColumn("evidence", "Evidence", "What the finding rests on, with mean time per step"),
       EvidenceText},
      {TextColumn("same_time_as", "Same Time As", "Rules whose larger gain is in part this one"),
       SameTimeText},
      {TextColumn("patch", "Patch", "Lines to change, with file and line where they are known"),
       PatchText},
      {CountColumn("rank", "Rank", "Whose steps and run the figures are of, empty without ranks"),
       [](const AdviceRow& row) { return RankCell(row.rank); }}};
  return columns;
}

}  // namespace

ResultTable MakeAdviceTable(const RunOverview& overview) {
  const ProcessSteps* main = overview.steps.Main();
  std::vector<AdviceRow> rows;
  for (const Finding& finding : overview.findings) {
    rows.push_back({finding, main == nullptr ? -1 : main->rank});
  }
  return TableOf("advice", "What to change", AdviceColumns(), rows);
}

}  // namespace batchlight
