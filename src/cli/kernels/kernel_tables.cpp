#include "cli/kernels/kernel_tables.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/overview/run_overview.h"
#include "analysis/result/table_columns.h"
#include "analysis/tables/counters/counter_tables.h"
#include "cli/flags/step_flags.h"
#include "cli/kernels/stall_view.h"
#include "cli/reading/stall_tables.h"
#include "cli/reading/standard_output.h"
#include "export/name_pattern.h"
#include "report/tables/people_table.h"
#include "report/tables/table_format.h"
#include "report/terminal/summary_text.h"
#include "report/text/kernel_text.h"
#include "report/text/number_text.h"
#include "report/text/roofline_text.h"

namespace batchlight::cli {
namespace {

struct KernelTable {
  std::string_view name;
  ResultTable (*make)(const Store& store, const KernelReport& report);
};
constexpr KernelTable kTables[] = {
    {"limits", KernelLimitsTable},       {"memory", KernelMemoryTable},
    {"occupancy", KernelOccupancyTable}, {"scheduler", KernelSchedulerTable},
    {"roofline", KernelRooflineTable},   {"counters", KernelCountersTable}};

Result<KernelChoice> ChoiceOf(const KernelView& view) {
  KernelChoice choice{.each_launch = view.each_launch, .rank = view.rank};
  if (view.pattern.empty()) return choice;
  ASSIGN_OR_RETURN(const NamePattern pattern,
                   NamePattern::Make("--kernel", view.pattern, NamePattern::Kind::kExtended));
  choice.wanted = [pattern](std::string_view name) { return pattern.Matches(std::string(name)); };
  return choice;
}

std::string Plural(uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string WhyNone(const KernelReport& report) {
  if (report.steps == 0) {
    return "no kernels were measured; `batchlight table losses` says why";
  }
  if (report.steps == report.steps_unmatched) {
    return Plural(report.steps, "step was", "steps were") +
           " measured, but other work ran in it than was counted: nobody can say whose the values "
           "are";
  }
  if (report.replays_unmatched > 0) {
    return Plural(report.replays_unmatched, "launch was", "launches were") +
           " replayed, but beside others: nobody can say whose the values are";
  }
  return "no kernel that was measured matches --kernel";
}

// Of measured kernels where a table that was asked for by its name has no rows.
void SayIfNotCounted(const KernelView& view, const KernelReport& report, const std::string& input) {
  const auto named = std::find(view.tables.begin(), view.tables.end(), "roofline");
  if (named == view.tables.end() || report.kernels.empty()) return;
  SayLine("batchlight: " + input +
          ": operations of kernels were not counted; `batchlight kernels --set roofline` does");
}

// Ranks whose kernels were measured, ascending; none: not a distributed job.
std::set<int32_t> RanksOf(const Store& store, const KernelReport& report) {
  std::set<int32_t> ranks;
  for (const KernelFigures& kernel : report.kernels) {
    if (kernel.process.IsNone()) continue;
    const int32_t rank = store.processes.rank[kernel.process.row()];
    if (rank >= 0) ranks.insert(rank);
  }
  return ranks;
}

// Above the tables that people read.
std::string Head(const Store& store, const KernelReport& report) {
  uint64_t launches = 0, graphs = 0;
  double time_ns = 0;
  for (const KernelFigures& kernel : report.kernels) {
    launches += kernel.launches;
    if (kernel.is_graph) graphs += kernel.launches;
    time_ns += kernel.time_ns * double(kernel.launches);
  }
  std::string gpu = "a GPU";
  if (store.gpus.size() > 0) gpu = std::string(store.Text(store.gpus.name[0]));
  std::string text = "Kernels of a step on " + gpu +
                     ", each measured by itself: " + Plural(launches, "launch", "launches") + ", " +
                     TimeText(time_ns) + ", in " + Plural(report.steps, "step", "steps");
  const std::set<int32_t> ranks = RanksOf(store, report);
  if (ranks.size() > 1) text += " of " + Plural(ranks.size(), "rank", "ranks");
  text += '\n';
  if (graphs > 0) {
    text += "  " + Plural(graphs, "of these is a CUDA graph", "of these are CUDA graphs") +
            ", measured as a whole: nobody can count its kernels one by one\n";
  }
  if (report.steps_unmatched > 0) {
    text += "  " + Plural(report.steps_unmatched, "step is", "steps are") +
            " left out: other work ran in it than was counted\n";
  }
  if (report.replays_unmatched > 0) {
    text += "  " + Plural(report.replays_unmatched, "replayed launch is", "replayed launches are") +
            " left out: other work ran beside it\n";
  }
  if (report.incomplete > 0) {
    text += "  " + Plural(report.incomplete, "launch was", "launches were") +
            " not in every measured step: some of their counters are missing\n";
  }
  return text + "\n";
}

// For people: where each kernel comes from and what to do about it, below the figures.
std::string AdviceText(const Store& store, const KernelReport& report, size_t rows) {
  const bool by_rank = RanksOf(store, report).size() > 1;
  std::string text = "What to do\n";
  size_t number = 0;
  for (const KernelFigures& kernel : report.kernels) {
    if (rows != 0 && number == rows) break;
    const std::string name = kernel.is_graph ? "CUDA graph" : KernelLabel(store.Text(kernel.name));
    text += "  " + std::to_string(++number) + ". " + name.substr(0, 70);
    if (by_rank && !kernel.process.IsNone()) {
      text += " of rank " + std::to_string(store.processes.rank[kernel.process.row()]);
    }
    if (!kernel.owner.op.IsNone()) {
      text += ", by " + std::string(store.Text(store.operator_calls.name[kernel.owner.op.row()]));
    }
    if (!kernel.owner.module.IsNone()) {
      text += " in " + std::string(store.Text(store.module_calls.path[kernel.owner.module.row()]));
    }
    const std::string line = LaunchLineText(store, kernel);
    if (!line.empty()) text += ", from " + line;
    text += "\n";
    const std::string advice = AdviceFor(kernel);
    if (!advice.empty()) text += "     " + advice + "\n";
  }
  return text + "\n";
}

// People get the figures first; files have every column. `by_rank`: kernels of several are there.
void KeepFigures(bool by_rank, ResultTable* table) {
  const size_t count = ColumnWithKey(*table, "clock_ghz");
  const size_t rank = ColumnWithKey(*table, "rank");
  std::vector<size_t> kept;
  for (size_t i = 0; i < count; ++i) {
    if (table->columns[i].key != "advice" && !(by_rank && i == rank)) kept.push_back(i);
  }
  if (by_rank && rank < table->columns.size() && !kept.empty()) {
    kept.insert(kept.begin() + 1, rank);  // behind the kernel's name
  }
  KeepColumns(kept, table);
}

}  // namespace

bool IsWanted(const KernelView& view, std::string_view table) {
  for (const std::string& wanted : view.tables) {
    if (wanted == "all" || wanted == table) return true;
  }
  return false;
}

void ShortenKernelNames(ResultTable* table) {
  constexpr size_t kWidest = 48;
  const size_t column = ColumnWithKey(*table, "kernel");
  if (column == table->columns.size()) return;
  for (auto& row : table->rows) {
    if (auto* name = std::get_if<std::string>(&row[column])) {
      *name = KernelLabel(*name);
      if (name->size() > kWidest) *name = name->substr(0, kWidest - 3) + "...";
    }
  }
}

Result<KernelView> MakeKernelView(const ParsedFlags& flags) {
  KernelView view{.pattern = flags.Text(Flag::kKernelName),
                  .each_launch = flags.Bool(Flag::kKernelLaunches),
                  .tables = flags.List(Flag::kKernelTable),
                  .format = flags.Text(Flag::kKernelFormat),
                  .rows = std::strtoul(flags.Text(Flag::kKernelRows).c_str(), nullptr, 10)};
  view.stalls = flags.Text(Flag::kStalls) != "false";
  if (view.stalls && !flags.Given(Flag::kKernelTable)) {
    for (const std::string_view table : kStallTables) view.tables.emplace_back(table);
  }
  RETURN_IF_ERROR(ChoiceOf(view).status());
  ASSIGN_OR_RETURN(const TableFormat format, ParseTableFormat(view.format));
  if (format.for_people()) return view;
  if (!flags.Given(Flag::kKernelRows)) view.rows = 0;
  size_t tables = 0;
  for (const KernelTable& table : kTables) tables += IsWanted(view, table.name);
  for (const std::string_view table : kStallTables) tables += IsWanted(view, table);
  if (tables > 1) return UsageError("--format=" + view.format + " is of one --table");
  return view;
}

Status PrintKernels(const Store& store, const KernelView& view, const std::string& input) {
  ASSIGN_OR_RETURN(const KernelChoice choice, ChoiceOf(view));
  ASSIGN_OR_RETURN(const TableFormat format, ParseTableFormat(view.format));
  MeasureOptions measured;
  measured.steps.rank = view.rank;
  const RunOverview overview = BuildOverview(store, measured);
  RETURN_IF_ERROR(CheckStepsAreThere(input, overview.steps));
  KernelReport report = ReportKernels(store, overview.links, overview.work, choice);
  if (!report.kernels.empty() && HasStallWindows(store)) {
    ASSIGN_OR_RETURN(const StallProfile profile, ReadStallProfile(store, input));
    NameMemoryLines(profile, store, &report);
  }
  const bool has_kernel_table =
      std::any_of(std::begin(kTables), std::end(kTables),
                  [&](const KernelTable& table) { return IsWanted(view, table.name); });
  const bool only_stalls = report.steps == 0 && WantsStalls(view);
  if (report.kernels.empty() && has_kernel_table && !only_stalls) {
    SayLine("batchlight: " + input + ": " + WhyNone(report));
  }
  if (format.for_people() && !report.kernels.empty())
    RETURN_IF_ERROR(WriteOut(Head(store, report)));
  for (const KernelTable& wanted : kTables) {
    if (!IsWanted(view, wanted.name)) continue;
    ResultTable table = wanted.make(store, report);
    if (view.rows > 0 && table.rows.size() > view.rows) table.rows.resize(view.rows);
    if (format.for_people()) {
      if (table.rows.empty()) {
        if (wanted.name == "roofline") SayIfNotCounted(view, report, input);
        continue;
      }
      KeepFigures(RanksOf(store, report).size() > 1, &table);
      ShortenKernelNames(&table);
      SuitUnits(&table);
      const auto width = static_cast<size_t>(TerminalStyle::Of(stdout).terminal_width);
      if (width != 0) FitWidth(format, width, &table);
    }
    RETURN_IF_ERROR(WriteTable(format, RowsOf(table), WriteNamesOut));
    if (!format.for_people()) continue;
    RETURN_IF_ERROR(WriteOut("\n"));
    if (wanted.name == "limits") {
      RETURN_IF_ERROR(WriteNamesOut(AdviceText(store, report, view.rows)));
    } else if (wanted.name == "roofline") {
      RETURN_IF_ERROR(WriteNamesOut(RooflineHint(store, report) + "\n"));
    }
  }
  if (WantsStalls(view)) {
    RETURN_IF_ERROR(PrintStalls(store, view, format, choice.wanted, input));
  }
  return FinishOut();
}

}  // namespace batchlight::cli
