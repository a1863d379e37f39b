#include "analysis/tables/overview_tables.h"

#include <algorithm>
#include <cctype>

#include "analysis/result/percentile_cell.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/beside_column.h"

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

// A key of its own for every phase; ranges of the user share a kind.
std::string KeyOf(const std::pair<PhaseKind, std::string>& phase) {
  return "phase_" + std::string(PhaseKindKey(phase.first)) + "_" + phase.second;
}

struct StepRow {
  const ProcessSteps& process;
  const StepBreakdown* breakdown;  // nullptr: none of this process
  uint32_t pid;
  size_t row;

  const Step& step() const { return process.steps[row]; }
};

Columns<StepRow> StepColumns(const RunOverview& overview) {
  using Row = StepRow;
  Columns<Row> columns = {
      {CountColumn("rank", "Rank", "Rank of the process, empty without ranks"),
       [](const Row& row) { return RankCell(row.process.rank); }},
      {CountColumn("pid", "PID", "Process"), &Row::pid},
      {CountColumn("step", "Step", "Number of the step"),
       [](const Row& row) { return row.step().number; }},
      {TextColumn("kind", "Kind", "steady, or what sets it apart"),
       [](const Row& row) { return std::string(StepKindName(row.step().kind)); }},
      {TextColumn("outlier", "Outlier", "yes: unusually long among the steady ones"),
       [](const Row& row) { return std::string(row.step().outlier ? "yes" : ""); }},
      {TimeColumn("start", "Start", "Since the start of the session"),
       [](const Row& row) { return row.step().start_ns; }},
      {TimeColumn("duration", "Duration", "Length of the step"),
       [](const Row& row) { return row.step().duration_ns(); }}};
  for (const auto& phase : AllPhases(overview)) {
    columns.push_back(
        {TimeColumn(KeyOf(phase), Capitalized(phase.second), "Time of the step in this phase"),
         [phase](const Row& row) {
           const PhaseShare* found = FindPhase(*row.breakdown, phase);
           return found == nullptr ? int64_t{0} : found->per_step_ns[row.row];
         }});
  }
  return columns;
}

struct PhaseRow {
  int32_t rank;
  uint32_t pid;
  const PhaseShare& phase;
};

const Columns<PhaseRow>& PhaseColumns() {
  using Row = PhaseRow;
  static const Columns<Row> columns = {
      {CountColumn("rank", "Rank", "Rank of the process, empty without ranks"),
       [](const Row& row) { return RankCell(row.rank); }},
      {CountColumn("pid", "PID", "Process"), &Row::pid},
      {TextColumn("phase", "Phase", ""), [](const Row& row) { return row.phase.name; }},
      {PercentColumn("share", "Share", "Of the time of the steps that count"),
       [](const Row& row) { return row.phase.share * 100; }},
      {TimeColumn("mean", "Mean", "Per step; the share is the mean's of the mean step"),
       [](const Row& row) { return NanosecondsCell(row.phase.steady.mean); }},
      {TimeColumn("median", "Median", "Per step"),
       [](const Row& row) { return row.phase.steady.median; }},
      {TimeColumn("p5", "P5", "Per step; empty below five steps"),
       [](const Row& row) { return PercentileCell(row.phase.steady, &Sample::p5); }},
      {TimeColumn("p95", "P95", "Per step; empty below five steps"),
       [](const Row& row) { return PercentileCell(row.phase.steady, &Sample::p95); }},
      {TimeColumn("total", "Total", "Over the steps that count"),
       [](const Row& row) { return row.phase.steady.total; }}};
  return columns;
}

Columns<ModuleRow> ModuleColumns(bool recompute, bool gpu) {
  using Row = ModuleRow;
  Columns<Row> columns = {
      {TextColumn("module", "Module", "Path in the model"), &Row::path},
      {TextColumn("class", "Class", ""), &Row::class_name},
      {CountColumn("depth", "Depth", "0 = called by no other module"), &Row::depth},
      {OfWholeRun(CountColumn("calls", "Calls", "In the whole run")), Number(&Row::calls)},
      {OfWholeRun(TimeColumn("forward", "Forward", "Whole run, with the modules inside")),
       &Row::total_ns},
      {OfWholeRun(
           TimeColumn("forward_self", "Forward Self", "Whole run, without the modules inside")),
       &Row::self_ns},
      {OfWholeRun(TimeColumn("backward", "Backward",
                             "Whole run, CPU time of the backward of its operators")),
       &Row::backward_ns},
      {RealColumn("calls_per_step", "Calls per Step", "Mean over the steps that count"),
       &Row::calls_per_step},
      {TimeColumn("forward_per_step", "Forward per Step", "Mean over the steps that count"),
       Nanoseconds(&Row::total_per_step_ns)},
      {TimeColumn("self_per_step", "Self per Step", "Mean over the steps that count"),
       Nanoseconds(&Row::self_per_step_ns)},
      {TimeColumn("backward_per_step", "Backward per Step", "Mean over the steps that count"),
       Nanoseconds(&Row::backward_per_step_ns)},
      {PercentColumn("share_of_step", "Share of Step",
                     "(Forward + backward + recompute) per step / mean step"),
       Percent(&Row::share_of_step)},
      {PercentColumn("own_share", "Own Share of Step",
                     "The same without the modules inside; all rows add up to at most 100 %"),
       Percent(&Row::own_share)},
      {BesideColumn(), Nanoseconds(&Row::beside_per_step_ns)}};
  if (recompute) {
    Append<Row>(
        columns,
        {{OfWholeRun(
              CountColumn("recomputed_calls", "Recomputed Calls", "Inside of a backward function")),
          Number(&Row::recomputed_calls)},
         {TimeColumn("recompute_per_step", "Recompute per Step",
                     "Forward that backward runs again (checkpointing), modules inside too"),
          Nanoseconds(&Row::recompute_per_step_ns)}});
  }
  if (recompute && gpu) {
    Append<Row>(columns, {{TimeColumn("gpu_recompute_per_step", "GPU Recompute per Step",
                                      "Work that the recompute launched"),
                           Nanoseconds(&Row::gpu_recompute_per_step_ns)}});
  }
  if (gpu) {
    Append<Row>(columns, {{TimeColumn("gpu_forward_per_step", "GPU Forward per Step",
                                      "Work that its forward launched, modules inside too"),
                           Nanoseconds(&Row::gpu_per_step_ns)},
                          {TimeColumn("gpu_backward_per_step", "GPU Backward per Step",
                                      "Work of the backward of its operators"),
                           Nanoseconds(&Row::gpu_backward_per_step_ns)}});
  }
  return columns;
}

Columns<OperatorRow> OperatorColumns(const RunOverview& overview, bool shapes) {
  using Row = OperatorRow;
  const Store& store = *overview.store;
  Columns<Row> columns = {{TextColumn("name", "Operator", ""),
                           [&store](const Row& row) { return std::string(store.Text(row.name)); }}};
  if (shapes) {
    columns.push_back({TextColumn("shapes", "Input Shapes", "Sizes of the tensor inputs"),
                       [&store](const Row& row) { return std::string(store.Text(row.shapes)); }});
  }
  Append<Row>(
      columns,
      {{OfWholeRun(CountColumn("calls", "Calls", "In the whole run")), Number(&Row::calls)},
       {OfWholeRun(TimeColumn("self", "Self", "Whole run, all threads, without operators inside")),
        &Row::self_ns},
       {OfWholeRun(TimeColumn("total", "Total", "Whole run, all threads, with operators inside")),
        &Row::total_ns},
       {OfWholeRun(TimeColumn("average", "Average", "Total / calls, whole run")),
        [](const Row& row) { return NanosecondsCell(row.average_ns()); }},
       {OfWholeRun(TimeColumn("min", "Min", "Whole run")), &Row::min_ns},
       {OfWholeRun(TimeColumn("max", "Max", "Whole run")), &Row::max_ns},
       {OfWholeRun(TimeColumn("self_in_backward", "Self in Backward",
                              "Part of Self inside a backward function")),
        &Row::self_in_backward_ns},
       {OfWholeRun(TimeColumn("its_backward", "Its Backward",
                              "Whole run, functions that differentiate these calls")),
        &Row::backward_ns},
       {RealColumn("calls_per_step", "Calls per Step", "Mean over the steps that count"),
        &Row::calls_per_step},
       {TimeColumn("self_per_step", "Self per Step",
                   "Mean over the steps that count, of what the step waits for"),
        Nanoseconds(&Row::self_per_step_ns)},
       {TimeColumn("total_per_step", "Total per Step", "The same with operators inside"),
        Nanoseconds(&Row::total_per_step_ns)},
       {PercentColumn("share_of_step", "Share of Step",
                      "Self per step / mean step; all rows add up to at most 100 %"),
        Percent(&Row::share_of_step)},
       {BesideColumn(), Nanoseconds(&Row::beside_per_step_ns)}});
  if (!overview.gpu.empty()) {
    Append<Row>(columns, {{TimeColumn("gpu_self_per_step", "GPU Self per Step",
                                      "Work that it launched itself, by the steps that count"),
                           Nanoseconds(&Row::gpu_per_step_ns)},
                          {TimeColumn("gpu_total_per_step", "GPU Total per Step",
                                      "With the work of operators inside"),
                           Nanoseconds(&Row::gpu_total_per_step_ns)}});
  }
  return columns;
}

const Columns<ProcessInfo>& ProcessColumns() {
  using Row = ProcessInfo;
  static const Columns<Row> columns = {
      {CountColumn("pid", "PID", ""), &Row::pid},
      {CountColumn("rank", "Rank", ""), [](const Row& row) { return RankCell(row.rank); }},
      {TextColumn("name", "Name", ""), &Row::name},
      {TextColumn("command", "Command", ""), &Row::command_line},
      {TextColumn("end", "End", "Exit status or signal"), &Row::ExitText},
      {TimeColumn("start", "Start", "Since the start of the session"), &Row::start_ns},
      {TimeColumn("duration", "Duration", "Empty: end unknown"),
       [](const Row& row) {
         return row.end_ns == kOpenEnd ? Cell{} : Cell{row.end_ns - row.start_ns};
       }},
      {CountColumn("threads", "Threads", "That recorded something"), Number(&Row::threads)},
      {CountColumn("events", "Events", ""), Number(&Row::events)}};
  return columns;
}

const Columns<LossWarning>& LossColumns() {
  using Row = LossWarning;
  static const Columns<Row> columns = {
      {TextColumn("severity", "Severity", "data_loss, error, notice or info"),
       [](const Row& row) { return std::string(SeverityName(row.severity)); }},
      {TextColumn("what", "What", ""), [](const Row& row) { return std::string(row.name); }},
      {TextColumn("text", "Text", ""), [](const Row& row) { return std::string(row.text); }},
      {TextColumn("advice", "Advice", ""), [](const Row& row) { return std::string(row.advice); }},
      {CountColumn("value", "Value", ""), [](const Row& row) { return NumberCell(row.value); }},
      {CountColumn("processes", "Processes", ""),
       [](const Row& row) { return NumberCell(row.processes); }}};
  return columns;
}

}  // namespace

ResultTable MakeStepsTable(const RunOverview& overview) {
  const Columns<StepRow> columns = StepColumns(overview);
  ResultTable table = EmptyTable("steps", "Steps", columns);
  for (size_t p = 0; p < overview.steps.processes.size(); ++p) {
    const ProcessSteps& process = overview.steps.processes[p];
    const bool known = p < overview.breakdowns.size();
    const StepBreakdown* breakdown = known ? &overview.breakdowns[p] : nullptr;
    const uint32_t pid = overview.store->processes.pid[process.process.row()];
    for (size_t i = 0; i < process.steps.size(); ++i) {
      AddRow(table, columns, {process, breakdown, pid, i});
    }
  }
  return table;
}

ResultTable MakePhasesTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("phases", "What a step is made of", PhaseColumns());
  for (size_t p = 0; p < overview.breakdowns.size(); ++p) {
    const ProcessSteps& process = overview.steps.processes[p];
    const uint32_t pid = overview.store->processes.pid[process.process.row()];
    for (const PhaseShare& phase : overview.breakdowns[p].phases) {
      AddRow(table, PhaseColumns(), {process.rank, pid, phase});
    }
  }
  return table;
}

ResultTable MakeModulesTable(const RunOverview& overview) {
  return TableOf("modules", "Modules",
                 ModuleColumns(overview.modules.has_recompute, !overview.gpu.empty()),
                 overview.modules.rows);
}

ResultTable MakeOperatorsTable(const RunOverview& overview) {
  return TableOf("operators", "Operators", OperatorColumns(overview, false),
                 overview.operators.by_name);
}

ResultTable MakeOperatorShapesTable(const RunOverview& overview) {
  return TableOf("operators_by_shape", "Operators by input shapes", OperatorColumns(overview, true),
                 overview.operators.by_shape);
}

ResultTable MakeProcessesTable(const RunOverview& overview) {
  return TableOf("processes", "Processes", ProcessColumns(), overview.session.processes);
}

ResultTable MakeLossesTable(const RunOverview& overview) {
  return TableOf("losses", "What is missing", LossColumns(), overview.losses);
}

}  // namespace batchlight
