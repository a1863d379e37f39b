#include "tests/fuzz/commands.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/overview/run_overview.h"
#include "analysis/stats/stats_report.h"
#include "analysis/tables/registry.h"
#include "export/exporter.h"
#include "report/files/report_folder.h"
#include "report/tables/table_format.h"
#include "report/terminal/summary.h"
#include "report/terminal/tree_text.h"

namespace batchlight::fuzz {
namespace {

// In memory: a fuzzer runs for hours.
const std::string& Folder() {
  static const std::string folder = [] {
    std::string name = "/dev/shm/batchlight_fuzz_" + std::to_string(getpid());
    std::filesystem::create_directories(name);
    return name;
  }();
  return folder;
}

void PrintTables(const RunOverview& overview) {
  static const std::vector<TableFormat> formats = [] {
    std::vector<TableFormat> all;
    for (const char* name : {"column", "csv:spreadsheet", "json", "markdown"}) {
      all.push_back(ParseTableFormat(name).value());
    }
    return all;
  }();
  size_t next = 0;
  for (const TableEntry& entry : OverviewTables()) {
    const ResultTable table = entry.make(overview);
    (void)TableText(formats[next++ % formats.size()], RowsOf(table));
  }
}

void PrintStats(const Store& store) {
  for (const stats::Report& report : stats::Reports()) {
    if (!report.missing(store).empty()) continue;
    const auto rows = stats::RunReport(report, {store, {}, {}, false});
    if (!rows.ok()) continue;
    std::vector<Cell> cells(rows->columns.size());
    for (size_t row = 0; row < rows->row_count; ++row) rows->fill(row, cells);
  }
}

void Write(const RunOverview& overview, uint32_t choice) {
  const auto exporters = Exporters();
  const size_t which = choice % (exporters.size() + 1);
  const std::string output = Folder() + "/output";
  // Errors are results too: a store without rows has nothing to write.
  if (which == exporters.size()) {
    (void)WriteReportFolder(
        overview, {.folder = output, .overwrite = true, .spreadsheet = true, .version = "fuzz"});
  } else {
    ExportOptions options;
    options.output = output;
    options.lazy = choice % 2 == 0;
    (void)exporters[which].run(*overview.store, options);
  }
  std::error_code ignored;
  std::filesystem::remove_all(output, ignored);
}

}  // namespace

void RunCommands(const Store& store, uint32_t choice) {
  const RunOverview overview = BuildOverview(store, {.phase_events = true});
  (void)SummaryAsText(overview, {});
  (void)SummaryAsJson(overview);
  (void)TreeText(overview, {}, {.by_gpu = choice % 2 == 0, .least = 0});
  PrintTables(overview);
  PrintStats(store);
  Write(overview, choice / 2);
}

}  // namespace batchlight::fuzz
