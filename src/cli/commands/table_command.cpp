// batchlight table: any table of a run, sorted and cut, in any format of stats.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/overview/run_overview.h"
#include "analysis/result/table_columns.h"
#include "analysis/run/steps_alone.h"
#include "analysis/tables/registry.h"
#include "base/file.h"
#include "base/nearest.h"
#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/flags/step_flags.h"
#include "cli/reading/job_input.h"
#include "cli/reading/reading_notes.h"
#include "cli/reading/standard_output.h"
#include "cli/reading/table_outputs.h"
#include "report/tables/people_table.h"
#include "report/tables/table_format.h"
#include "report/terminal/summary_text.h"

namespace batchlight::cli {
namespace {

struct TableOptions {
  std::string first;               // the table's name, or a run
  std::vector<std::string> words;  // the others of both kinds
  std::vector<std::string> runs;   // those given by --run, then those among the words
  JobUse use;
  std::string format = "column";
  std::string sort;
  std::string time_unit;  // "" = one that suits the numbers; nanoseconds in files
  size_t rows = 0;        // 0: all
  StepOptions steps;
  bool list = false;
};

// What key_averages().table(sort_by=) takes, and the column that it means.
constexpr std::pair<std::string_view, std::string_view> kTorchNames[] = {
    {"cpu_time", "CPU time avg"},
    {"cuda_time", "CUDA time avg"},
    {"device_time", "CUDA time avg"},
    {"cpu_time_total", "CPU total"},
    {"cuda_time_total", "CUDA total"},
    {"device_time_total", "CUDA total"},
    {"self_cpu_time_total", "Self CPU"},
    {"self_cuda_time_total", "Self CUDA"},
    {"self_device_time_total", "Self CUDA"},
    {"cpu_memory_usage", "CPU Mem (bytes)"},
    {"cuda_memory_usage", "CUDA Mem (bytes)"},
    {"device_memory_usage", "CUDA Mem (bytes)"},
    {"self_cpu_memory_usage", "Self CPU Mem (bytes)"},
    {"self_cuda_memory_usage", "Self CUDA Mem (bytes)"},
    {"self_device_memory_usage", "Self CUDA Mem (bytes)"},
    {"count", "# of Calls"},
    {"flops", "Total FLOPs"},
};

// What sort_stats() of pstats takes.
constexpr std::pair<std::string_view, std::string_view> kPstatsNames[] = {
    {"calls", "ncalls"},
    {"cumulative", "cumtime"},
    {"time", "tottime"},
    {"filename", "filename:lineno(function)"},
    {"module", "filename:lineno(function)"},
    {"line", "filename:lineno(function)"},
    {"name", "filename:lineno(function)"},
    {"nfl", "filename:lineno(function)"},
    {"stdname", "filename:lineno(function)"},
};

// Letters and digits in lower case, without a unit in brackets: "Self CPU" is self_cpu.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text.substr(0, text.find(" ("))) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

bool Means(std::string_view wanted, const std::string& column) {
  for (const auto& [torch_name, meant] : kTorchNames) {
    if (wanted == torch_name && column == meant) return true;
  }
  for (const auto& [pstats_name, meant] : kPstatsNames) {
    if (wanted == pstats_name && column == meant) return true;
  }
  return column == wanted || Plain(column) == Plain(wanted);
}

Status Sort(const std::string& wanted, ResultTable* table) {
  if (wanted.empty()) return {};
  std::vector<std::string_view> names;
  for (const ResultColumn& column : table->columns) names.push_back(column.name);
  size_t index = names.size();
  for (size_t i = names.size(); i-- > 0;) {
    if (Means(wanted, table->columns[i].name)) index = i;
  }
  if (index == names.size()) {
    return UsageError("--sort: no column " + wanted + NearestOrAll(wanted, names));
  }
  const bool text = table->columns[index].type == CellType::kText;
  std::stable_sort(table->rows.begin(), table->rows.end(), [&](const auto& a, const auto& b) {
    return text ? a[index] < b[index] : b[index] < a[index];  // numbers: largest first
  });
  return {};
}

// Tables whose rows are of ranks keep those of the one that was asked for.
void KeepRank(int64_t rank, ResultTable* table) {
  const size_t index = ColumnWithKey(*table, "rank");
  if (rank < 0 || index == table->columns.size()) return;
  std::erase_if(table->rows, [&](const auto& row) { return row[index] != Cell{rank}; });
}

bool IsOfSomeSteps(const StepOptions& steps) {
  return steps.first_step > 0 || steps.last_step != INT64_MAX;
}

Status CheckTableHasSteps(const TableEntry& entry, const StepOptions& steps) {
  if (entry.steps != StepsOf::kNothing || !IsOfSomeSteps(steps)) return {};
  return UsageError("table " + std::string(entry.name) +
                    " is of the whole run: it takes no --first-step and --last-step");
}

// Tables that sum up the store are of the steps asked for alone.
Status KeepStepsAskedFor(const TableEntry& entry, const std::string& input, const StepSet& steps,
                         Store& store) {
  if (steps.processes.empty()) return UsageError(input + ": " + steps.how);
  const bool had_short_calls = store.os_call_counts.size() > 0;
  KeepStepsAlone(steps, store);
  if (entry.name == "os_calls" && had_short_calls) {
    SayLine(
        "batchlight: of these steps alone are the calls that were recorded one by one and lie "
        "within them; shorter ones have no times");
  }
  return {};
}

// The table of the steps asked for. What compares ranks is of all of them, of which --rank then
// keeps one.
Result<ResultTable> TableOf(const TableEntry& entry, const std::string& input, Store& store,
                            StepOptions steps, bool for_people) {
  const int64_t rank = steps.rank;
  RunOverview overview = BuildOverview(store, {.steps = steps});
  RETURN_IF_ERROR(CheckStepsAreThere(input, overview.steps));
  if (entry.steps == StepsOf::kStore && IsOfSomeSteps(steps)) {
    RETURN_IF_ERROR(KeepStepsAskedFor(entry, input, overview.steps, store));
  }
  if (entry.compares_ranks && rank >= 0) {
    steps.rank = StepOptions{}.rank;
    overview = BuildOverview(store, {.steps = steps});
  }
  ResultTable table = MakeTable(entry, overview);
  if (!for_people) AddStepColumns(entry, overview, &table);
  KeepRank(rank, &table);
  return table;
}

// Something to read, by its name or by being there.
bool IsRun(const std::string& word) {
  return FileExists(word) || word.find_first_of("./*?[") != std::string::npos;
}

void ListTables() {
  for (const TableEntry& entry : OverviewTables()) {
    std::printf("%-24.*s %.*s\n", static_cast<int>(entry.name.size()), entry.name.data(),
                static_cast<int>(entry.sentence.size()), entry.sentence.data());
  }
}

// Takes the table's name, before the runs or after them, out of the words.
Result<const TableEntry*> ChooseTable(TableOptions& options) {
  std::vector<std::string> words = std::move(options.words);
  if (!options.first.empty()) words.insert(words.begin(), options.first);
  // A file may have a table's name: the last word that has one and can be spared is the table.
  const auto is_table = [](const std::string& word) { return FindOverviewTable(word) != nullptr; };
  auto name = std::find_if(words.rbegin(), words.rend(), is_table);
  if (name == words.rend()) {
    name = std::find_if(words.rbegin(), words.rend(),
                        [](const std::string& word) { return !IsRun(word); });
  }
  if (words.size() + options.runs.size() < 2 || name == words.rend()) {
    const bool has_run = !options.runs.empty() || std::any_of(words.begin(), words.end(), IsRun);
    return UsageError((has_run ? "which table? batchlight table RUN... TABLE"
                               : "no RUN given: batchlight table RUN... TABLE") +
                      std::string("; --list shows the names"));
  }
  const std::string wanted = *name;
  words.erase(std::next(name).base());
  options.runs.insert(options.runs.end(), words.begin(), words.end());
  if (const TableEntry* entry = FindOverviewTable(wanted)) return entry;
  std::vector<std::string_view> names;
  for (const TableEntry& known : OverviewTables()) names.push_back(known.name);
  const std::string near = DidYouMean(NearestFew(wanted, names));
  return UsageError("no table " + wanted + near + (near.empty() ? "; " : " ") +
                    "`batchlight table --list` shows all");
}

// What a person reads gets units that suit the numbers and, on a terminal, the width of it; what
// was asked for by a unit or an argument of the format stays as it was asked for.
void SuitPeople(const TableOptions& options, const TableFormat& format, ResultTable* table) {
  if (!format.for_people() || options.format.find(':') != std::string::npos) return;
  if (options.time_unit.empty()) SuitUnits(table);
  const auto width = static_cast<size_t>(TerminalStyle::Of(stdout).terminal_width);
  if (width == 0) return;
  const std::vector<std::string> left_out = FitWidth(format, width, table);
  if (left_out.empty()) return;
  std::string names;
  for (const std::string& name : left_out) names += (names.empty() ? "" : ", ") + name;
  std::fprintf(stderr, "Not shown, for want of room: %s. A wider terminal or -f csv has them.\n",
               names.c_str());
}

std::string WhyEmpty(const TableEntry& entry, const Store& store) {
  std::string special = entry.why_this_empty != nullptr ? entry.why_this_empty(store) : "";
  return special.empty() ? std::string(entry.why_empty) : special;
}

Status Run(TableOptions options) {
  if (options.list) {
    ListTables();
    return {};
  }
  ASSIGN_OR_RETURN(const TableEntry* entry, ChooseTable(options));
  RETURN_IF_ERROR(CheckStepFlags(options.steps));
  RETURN_IF_ERROR(CheckTableHasSteps(*entry, options.steps));
  DisplayUnits units;
  ASSIGN_OR_RETURN(const TimeUnit time_unit,
                   ParseTimeUnit(options.time_unit.empty() ? "nsec" : options.time_unit));
  units.SetTime(time_unit);
  const auto parsed = ParseTableFormat(options.format, units);
  RETURN_IF_ERROR(ExplainFormat(parsed.status(), options.format));
  const TableFormat& format = parsed.value();
  RETURN_IF_ERROR(CheckConsole(format));
  const std::string input = LabelOf(options.runs);
  ASSIGN_OR_RETURN(Store store, OpenJob(options.runs, options.use));
  SayReadingNotes(input, store);
  ASSIGN_OR_RETURN(ResultTable table,
                   TableOf(*entry, input, store, options.steps, format.for_people()));
  if (table.rows.empty()) {
    const bool narrowed = entry->steps == StepsOf::kStore && IsOfSomeSteps(options.steps);
    SayLine("batchlight: " + input + ": no rows: " + WhyEmpty(*entry, store) +
            (narrowed ? ", or none within these steps" : ""));
  }
  RETURN_IF_ERROR(Sort(options.sort, &table));
  if (options.rows > 0 && table.rows.size() > options.rows) table.rows.resize(options.rows);
  SuitPeople(options, format, &table);
  return WriteTable(format, RowsOf(table), WriteNamesOut);
}

}  // namespace

void RegisterTable(const Command& app, Outcome& outcome) {
  auto options = std::make_shared<TableOptions>();
  const Command command =
      app.Add("table", "Print a table of a run: modules, kernels, key_averages and others");
  command.Option("TABLE", &options->first, "Which table; may come after RUN; see --list")
      .TypeName("");
  command.Option("RUN", &options->words, std::string(kRunHelp) + kRunsHelp).TypeName("");
  command
      .Option("-f,--format", &options->format,
              "column, table, csv, tsv, json, markdown, parquet, arrow, ...")
      .TypeName("FORMAT")
      .ShowDefault();
  command
      .Option(
          "--sort,--sort_by,--sort-by", &options->sort,
          "Column, by name or as PyTorch or pstats spells it (self_cuda_time_total, cumulative)")
      .TypeName("COLUMN");
  command.Option("--rows,--row_limit,--row-limit", &options->rows, "At most so many rows")
      .NotNegative();
  command
      .Option("--timeunit", &options->time_unit,
              "nsec, usec, msec, sec (default: what suits a column; nsec in csv, json, ...)")
      .TypeName("UNIT");
  command.Option("--run", &options->runs, "RUN by name").TypeName("RUN").OneValueEach();
  AddClockFlag(command, &options->use);
  AddStepFlags(command, &options->steps);
  command.Switch("--list", &options->list, "Show every table with what a row is");
  command.Runs([options, &outcome] { outcome.status = Run(*options); });
}

}  // namespace batchlight::cli
