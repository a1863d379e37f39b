// batchlight table: any table of a run, sorted and cut, in any format of stats.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analysis/registry.h"
#include "analysis/run_overview.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/reading_notes.h"
#include "cli/step_flags.h"
#include "ingest/open_input.h"
#include "report/table_format.h"

namespace batchlight::cli {
namespace {

struct TableOptions {
  std::string name;
  std::string input;
  std::string format;
  std::string sort;
  std::string time_unit = "nanoseconds";
  size_t rows = 0;  // 0: all
  StepOptions steps;
  bool list = false;
};

// "Self CPU" and PyTorch's self_cpu_time_total are the same column.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  for (const std::string_view word : {"timetotal", "total", "time"}) {
    if (plain.size() > word.size() && plain.ends_with(word))
      plain.resize(plain.size() - word.size());
  }
  return plain;
}

Status Sort(const std::string& wanted, ResultTable* table) {
  if (wanted.empty()) return {};
  std::vector<std::string_view> names;
  for (const ResultColumn& column : table->columns) names.push_back(column.name);
  size_t index = names.size();
  for (size_t i = names.size(); i-- > 0;) {
    if (names[i] == wanted || Plain(names[i]) == Plain(wanted) ||
        (Plain(wanted) == "count" && names[i] == "# of Calls")) {
      index = i;
    }
  }
  if (index == names.size()) {
    return UsageError("--sort: no column " + wanted + DidYouMean(NearestFew(wanted, names)));
  }
  const bool text = table->columns[index].type == CellType::kText;
  std::stable_sort(table->rows.begin(), table->rows.end(), [&](const auto& a, const auto& b) {
    return text ? a[index] < b[index] : b[index] < a[index];  // numbers: largest first
  });
  return {};
}

Status Run(const TableOptions& options) {
  if (options.list) {
    for (const TableEntry& entry : OverviewTables()) {
      std::printf("%-24.*s %.*s\n", static_cast<int>(entry.name.size()), entry.name.data(),
                  static_cast<int>(entry.sentence.size()), entry.sentence.data());
    }
    return {};
  }
  if (options.name.empty() || options.input.empty()) {
    return UsageError("table needs a name and an input; --list shows the names");
  }
  const TableEntry* entry = FindOverviewTable(options.name);
  if (entry == nullptr) {
    std::vector<std::string_view> names;
    for (const TableEntry& known : OverviewTables()) names.push_back(known.name);
    return UsageError("no table " + options.name + DidYouMean(NearestFew(options.name, names)) +
                      " `batchlight table --list` shows all");
  }
  RETURN_IF_ERROR(CheckStepFlags(options.steps));
  DisplayUnits units;
  ASSIGN_OR_RETURN(const TimeUnit time_unit, ParseTimeUnit(options.time_unit));
  units.SetTime(time_unit);
  ASSIGN_OR_RETURN(const TableFormat format, ParseTableFormat(options.format, units));
  ASSIGN_OR_RETURN(const Store store, OpenInput(options.input));
  SayReadingNotes(options.input, store);
  const RunOverview overview = BuildOverview(store, {.steps = options.steps});
  SayStepProblem(options.input, overview.steps);
  ResultTable table = entry->make(overview);
  RETURN_IF_ERROR(Sort(options.sort, &table));
  if (options.rows > 0 && table.rows.size() > options.rows) table.rows.resize(options.rows);
  return WriteTable(format, RowsOf(table), [](std::string_view bytes) -> Status {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
    return OutputError("cannot write to standard output");
  });
}

}  // namespace

void RegisterTable(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* command =
      app.add_subcommand("table", "Print a table of a run: modules, kernels, key_averages, ...");
  command->add_option("name", options->name, "Which table; see --list")->type_name("NAME");
  command
      ->add_option("input", options->input, "Recording, nsys .sqlite export or Kineto .json[.gz]")
      ->type_name("INPUT");
  command
      ->add_option("-f,--format", options->format, "column, table, csv, tsv, json, markdown, ...")
      ->default_val("column");
  command->add_option("--sort,--sort_by,--sort-by", options->sort,
                      "Column, by name or as PyTorch spells it (self_cuda_time_total)");
  command->add_option("--rows,--row_limit,--row-limit", options->rows, "At most so many rows");
  command->add_option("--timeunit", options->time_unit, "nsec, usec, msec, sec")
      ->capture_default_str();
  AddStepFlags(command, &options->steps);
  command->add_flag("--list", options->list, "Show every table with what a row is");
  command->callback([options, &outcome] { outcome.status = Run(*options); });
}

}  // namespace batchlight::cli
