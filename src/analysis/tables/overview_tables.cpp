#include "analysis/tables/overview_tables.h"

#include <algorithm>
#include <cctype>

#include "analysis/result/result_column.h"

namespace batchlight {
namespace {

// Phases of all processes, in order of first occurrence: the columns of the steps table.
std::vector<std::pair<PhaseKind, std::string>> AllPhases(const RunOverview& overview) {
  std::vector<std::pair<PhaseKind, std::string>> phases;
  for (const StepBreakdown& breakdown : overview.breakdowns) {
    for (const PhaseShare& phase : breakdown.phases) {
      const auto key = std::make_pair(phase.kind, phase.name);
      if (std::find(phases.begin(), phases.end(), key) == phases.end()) phases.push_back(key);
    }
  }
  return phases;
}

const PhaseShare* FindPhase(const StepBreakdown& breakdown,
                            const std::pair<PhaseKind, std::string>& key) {
  for (const PhaseShare& phase : breakdown.phases) {
    if (phase.kind == key.first && phase.name == key.second) return &phase;
  }
  return nullptr;
}

std::string Capitalized(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

ResultTable MakeStepsTable(const RunOverview& overview) {
  ResultTable table{.name = "steps", .title = "Steps"};
  table.columns = {CountColumn("Rank", "Rank of the process, empty without ranks"),
                   CountColumn("PID", "Process"),
                   CountColumn("Step", "Number of the step"),
                   TextColumn("Kind", "steady, or what sets it apart"),
                   TextColumn("Outlier", "yes: unusually long among the steady ones"),
                   TimeColumn("Start", "Since the start of the session"),
                   TimeColumn("Duration", "Length of the step")};
  const auto phases = AllPhases(overview);
  for (const auto& [kind, name] : phases) {
    table.columns.push_back(TimeColumn(Capitalized(name), "Time of the step in this phase"));
  }
  for (size_t p = 0; p < overview.steps.processes.size(); ++p) {
    const ProcessSteps& process = overview.steps.processes[p];
    const uint32_t pid = overview.store->processes.pid[process.process.row()];
    for (size_t i = 0; i < process.steps.size(); ++i) {
      const Step& step = process.steps[i];
      std::vector<Cell> row = {RankCell(process.rank),
                               NumberCell(pid),
                               step.number,
                               std::string(StepKindName(step.kind)),
                               std::string(step.outlier ? "yes" : ""),
                               step.start_ns,
                               step.duration_ns()};
      for (const auto& key : phases) {
        const PhaseShare* phase = FindPhase(overview.breakdowns[p], key);
        row.push_back(phase == nullptr ? int64_t{0} : phase->per_step_ns[i]);
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

ResultTable MakePhasesTable(const RunOverview& overview) {
  ResultTable table{.name = "phases", .title = "What a step is made of"};
  table.columns = {CountColumn("Rank", "Rank of the process, empty without ranks"),
                   TextColumn("Phase", ""),
                   PercentColumn("Share", "Of the time of the steps that count"),
                   TimeColumn("Median", "Per step"),
                   TimeColumn("P5", "Per step"),
                   TimeColumn("P95", "Per step"),
                   TimeColumn("Total", "Over the steps that count")};
  for (size_t p = 0; p < overview.breakdowns.size(); ++p) {
    for (const PhaseShare& phase : overview.breakdowns[p].phases) {
      table.rows.push_back({RankCell(overview.steps.processes[p].rank), phase.name,
                            phase.share * 100, phase.steady.median, phase.steady.p5,
                            phase.steady.p95, phase.steady.total});
    }
  }
  return table;
}

ResultTable MakeModulesTable(const RunOverview& overview) {
  ResultTable table{.name = "modules", .title = "Modules"};
  table.columns = {TextColumn("Module", "Path in the model"),
                   TextColumn("Class", ""),
                   CountColumn("Depth", "0 = called by no other module"),
                   CountColumn("Calls", "In the whole run"),
                   TimeColumn("Forward", "Whole run, with the modules inside"),
                   TimeColumn("Forward Self", "Whole run, without the modules inside"),
                   TimeColumn("Backward", "Whole run, CPU time of the backward of its operators"),
                   RealColumn("Calls per Step", "Mean over the steps that count"),
                   TimeColumn("Forward per Step", "Mean over the steps that count"),
                   TimeColumn("Self per Step", "Mean over the steps that count"),
                   TimeColumn("Backward per Step", "Mean over the steps that count"),
                   PercentColumn("Share of Step", "(Forward + backward) per step / mean step")};
  const bool gpu = !overview.gpu.empty();
  if (gpu) {
    table.columns.insert(
        table.columns.end(),
        {TimeColumn("GPU Forward per Step", "Work that its forward launched, modules inside too"),
         TimeColumn("GPU Backward per Step", "Work of the backward of its operators")});
  }
  for (const ModuleRow& row : overview.modules.rows) {
    std::vector<Cell> cells = {row.path,
                               row.class_name,
                               int64_t{row.depth},
                               NumberCell(row.calls),
                               row.total_ns,
                               row.self_ns,
                               row.backward_ns,
                               row.calls_per_step,
                               NanosecondsCell(row.total_per_step_ns),
                               NanosecondsCell(row.self_per_step_ns),
                               NanosecondsCell(row.backward_per_step_ns),
                               row.share_of_step * 100};
    if (gpu) {
      cells.insert(cells.end(), {NanosecondsCell(row.gpu_per_step_ns),
                                 NanosecondsCell(row.gpu_backward_per_step_ns)});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

namespace {

ResultTable OperatorTableOf(const RunOverview& overview, const std::vector<OperatorRow>& rows,
                            bool shapes) {
  ResultTable table;
  table.columns = {TextColumn("Operator", "")};
  if (shapes) table.columns.push_back(TextColumn("Input Shapes", "Sizes of the tensor inputs"));
  const ResultColumn rest[] = {
      CountColumn("Calls", "In the whole run"),
      TimeColumn("Self", "Without operators inside"),
      TimeColumn("Total", "With operators inside"),
      TimeColumn("Average", "Total / calls"),
      TimeColumn("Min", ""),
      TimeColumn("Max", ""),
      TimeColumn("Self in Backward", "Part of Self inside a backward function"),
      TimeColumn("Its Backward", "Functions that differentiate these calls"),
      RealColumn("Calls per Step", "Mean over the steps that count"),
      TimeColumn("Self per Step", "Mean over the steps that count"),
      PercentColumn("Share of Step", "Self per step / mean step")};
  table.columns.insert(table.columns.end(), std::begin(rest), std::end(rest));
  const bool gpu = !overview.gpu.empty();
  if (gpu) {
    table.columns.insert(
        table.columns.end(),
        {TimeColumn("GPU Self per Step", "Work that it launched itself, by the steps that count"),
         TimeColumn("GPU Total per Step", "With the work of operators inside")});
  }
  for (const OperatorRow& row : rows) {
    std::vector<Cell> cells = {std::string(overview.store->Text(row.name))};
    if (shapes) cells.push_back(std::string(overview.store->Text(row.shapes)));
    const Cell more[] = {NumberCell(row.calls),
                         row.self_ns,
                         row.total_ns,
                         NanosecondsCell(row.average_ns()),
                         row.min_ns,
                         row.max_ns,
                         row.self_in_backward_ns,
                         row.backward_ns,
                         row.calls_per_step,
                         NanosecondsCell(row.self_per_step_ns),
                         row.share_of_step * 100};
    cells.insert(cells.end(), std::begin(more), std::end(more));
    if (gpu) {
      cells.insert(cells.end(), {NanosecondsCell(row.gpu_per_step_ns),
                                 NanosecondsCell(row.gpu_total_per_step_ns)});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

ResultTable MakeOperatorsTable(const RunOverview& overview) {
  ResultTable table = OperatorTableOf(overview, overview.operators.by_name, false);
  table.name = "operators";
  table.title = "Operators";
  return table;
}

ResultTable MakeOperatorShapesTable(const RunOverview& overview) {
  ResultTable table = OperatorTableOf(overview, overview.operators.by_shape, true);
  table.name = "operators_by_shape";
  table.title = "Operators by input shapes";
  return table;
}

ResultTable MakeNvtxTable(const RunOverview& overview) {
  ResultTable table{.name = "nvtx_ranges", .title = "NVTX ranges"};
  table.columns = {TextColumn("Range", ""),
                   TextColumn("Domain", "Empty = default"),
                   TextColumn("Style", "PushPop or StartEnd"),
                   CountColumn("Calls", ""),
                   TimeColumn("Total", ""),
                   TimeColumn("Self", "Without ranges inside"),
                   TimeColumn("Median", ""),
                   TimeColumn("P5", ""),
                   TimeColumn("P95", ""),
                   TimeColumn("Min", ""),
                   TimeColumn("Max", ""),
                   TimeColumn("Total per Step", "Mean over the steps that count"),
                   PercentColumn("Share of Step", "")};
  for (const NvtxRow& row : overview.nvtx.rows) {
    table.rows.push_back({std::string(overview.store->Text(row.message)), row.domain,
                          std::string(ShortName(row.style)), NumberCell(row.calls), row.total_ns,
                          row.self_ns, row.duration.median, row.duration.p5, row.duration.p95,
                          row.duration.min, row.duration.max,
                          NanosecondsCell(row.total_per_step_ns), row.share_of_step * 100});
  }
  return table;
}

ResultTable MakeProcessesTable(const RunOverview& overview) {
  ResultTable table{.name = "processes", .title = "Processes"};
  table.columns = {CountColumn("PID", ""),
                   CountColumn("Rank", ""),
                   TextColumn("Name", ""),
                   TextColumn("Command", ""),
                   TextColumn("End", "Exit status or signal"),
                   TimeColumn("Start", "Since the start of the session"),
                   TimeColumn("Duration", "Empty: end unknown"),
                   CountColumn("Threads", "That recorded something"),
                   CountColumn("Events", "")};
  for (const ProcessInfo& process : overview.session.processes) {
    Cell duration;
    if (process.end_ns != kOpenEnd) duration = process.end_ns - process.start_ns;
    table.rows.push_back({NumberCell(process.pid), RankCell(process.rank), process.name,
                          process.command_line, process.ExitText(), process.start_ns, duration,
                          NumberCell(process.threads), NumberCell(process.events)});
  }
  return table;
}

ResultTable MakeLossesTable(const RunOverview& overview) {
  ResultTable table{.name = "losses", .title = "What is missing"};
  table.columns = {TextColumn("Severity", "data loss, error or info"),
                   TextColumn("What", ""),
                   TextColumn("Text", ""),
                   TextColumn("Advice", ""),
                   CountColumn("Value", ""),
                   CountColumn("Processes", "")};
  constexpr std::string_view kSeverities[] = {"info", "error", "data loss"};
  for (const LossWarning& loss : overview.losses) {
    table.rows.push_back({std::string(kSeverities[static_cast<size_t>(loss.severity)]), loss.name,
                          loss.text, loss.advice, NumberCell(loss.value),
                          NumberCell(loss.processes)});
  }
  return table;
}

}  // namespace batchlight
