#include "report/tensorboard/dlprof_events.h"

#include "analysis/dlprof/reports.h"
#include "analysis/result/result_column.h"
#include "report/charts/top_list_picture.h"
#include "report/tables/table_format.h"
#include "report/tensorboard/tensorboard.h"

namespace batchlight {
namespace {

constexpr size_t kMostRows = 50;  // of a table that is shown as text

std::string Markdown(const ResultTable& table) {
  RowSource rows = RowsOf(table);
  rows.row_count = std::min(rows.row_count, kMostRows);
  return TableText({.kind = TableKind::kMarkdown}, rows);
}

void AddIterations(const RunOverview& overview, const dlprof::Model& model,
                   TensorBoardWriter& events) {
  for (const dlprof::Iteration& iteration : model.iterations) {
    events.AddScalar("iteration time (ms)", iteration.number,
                     static_cast<float>(double(iteration.end_ns - iteration.start_ns) / 1e6));
  }
  // Without the warm-up, which would push all other steps into the first bin.
  std::vector<double> steady_ms;
  if (const ProcessSteps* main = overview.steps.Main()) {
    for (const uint32_t row : main->steady) {
      steady_ms.push_back(double(main->steps[row].duration_ns()) / 1e6);
    }
  }
  events.AddHistogram("steady iteration times (ms)", steady_ms);
}

void AddUtilization(const RunOverview& overview, TensorBoardWriter& events) {
  const std::vector<GpuBreakdown>& gpus = overview.gpu.breakdowns;
  for (const GpuBreakdown& gpu : gpus) {
    std::string tag = "GPU utilization (%)";
    if (gpus.size() > 1) {
      const uint32_t pid = overview.store->processes.pid[gpu.process.row()];
      tag += ", GPU " + std::to_string(gpu.device) + " of process " + std::to_string(pid);
    }
    for (size_t i = 0; i < gpu.steps.size(); ++i) {
      const GpuStepParts& step = gpu.steps[i];
      if (step.duration_ns() == 0) continue;
      int64_t busy_ns = 0;
      for (size_t part = 0; part < kGpuPartCount; ++part) {
        if (!IsIdle(static_cast<GpuPart>(part))) busy_ns += step.part_ns[part];
      }
      events.AddScalar(tag, static_cast<int64_t>(i),
                       static_cast<float>(100.0 * double(busy_ns) / double(step.duration_ns())));
    }
  }
}

}  // namespace

ResultTable ExpertSystemsReport(const RunOverview& overview) {
  ResultTable table{.name = "expert_systems", .title = "Expert Systems Report"};
  table.columns = {TextColumn("Problem", "what was seen"),
                   TextColumn("Recommendation", "what to change"),
                   TextColumn("Rule", "its name in batchlight analyze"),
                   TimeColumn("Estimated Gain per Iteration", "empty: no estimate can be made")};
  for (const Finding& finding : overview.findings) {
    table.rows.push_back(
        {finding.title + ": " + finding.seen, finding.action, std::string(finding.rule),
         finding.gain_ns > 0 ? Cell{static_cast<int64_t>(finding.gain_ns)} : Cell{}});
  }
  return table;
}

Result<std::string> DlprofEvents(const RunOverview& overview, const dlprof::Model& model) {
  const Store& store = *overview.store;
  TensorBoardWriter events(static_cast<double>(store.session_start_utc_ns) / 1e9);
  AddIterations(overview, model, events);
  AddUtilization(overview, events);
  for (const TopList& list : MakeTopLists(overview)) {
    ASSIGN_OR_RETURN(const std::string png, DrawTopList(overview, list));
    events.AddImage("top " + list.noun, png);
  }
  for (const dlprof::ReportEntry& entry : dlprof::Reports()) {
    if (entry.option == "iteration") continue;  // one row a kernel: not for a page
    const ResultTable table = entry.make(store, model);
    events.AddText(table.title, Markdown(table));
  }
  events.AddText("Expert Systems", Markdown(ExpertSystemsReport(overview)));
  return events.bytes();
}

}  // namespace batchlight
