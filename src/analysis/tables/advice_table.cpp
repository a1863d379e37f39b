#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {

ResultTable MakeAdviceTable(const RunOverview& overview) {
  ResultTable table{.name = "advice", .title = "What to change"};
  table.columns = {TextColumn("Rule", "Name of the rule, for --fail-on"),
                   TextColumn("Problem", ""),
                   TimeColumn("Gain per Step", "Estimate; empty where none can be made"),
                   TimeColumn("Uncertainty", "How far off the estimate may be"),
                   TextColumn("Seen", ""),
                   TextColumn("Why", ""),
                   TextColumn("Action", ""),
                   TextColumn("Evidence", "What the finding rests on, with mean time per step"),
                   TextColumn("Same Time As", "Rules whose larger gain is in part this one")};
  for (const Finding& finding : overview.findings) {
    std::string evidence;
    for (const Evidence& item : finding.evidence) {
      evidence += (evidence.empty() ? "" : "; ") + item.kind + " " + item.name;
      if (item.count > 0) evidence += " (" + std::to_string(item.count) + " times)";
      if (item.per_step_ns > 0) {
        evidence += " " + std::to_string(std::llround(item.per_step_ns / 1000)) + " µs a step";
      }
    }
    std::string same_time;
    for (const std::string_view rule : finding.same_time_as) {
      same_time.append(same_time.empty() ? "" : " ").append(rule);
    }
    const bool estimated = finding.gain_ns > 0;
    table.rows.push_back({std::string(finding.rule), finding.title,
                          estimated ? NanosecondsCell(finding.gain_ns) : Cell{},
                          estimated ? NanosecondsCell(finding.uncertainty_ns) : Cell{},
                          finding.seen, finding.why, finding.action, evidence, same_time});
  }
  return table;
}

}  // namespace batchlight
