#include "tests/fuzz/commands.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/diff/run_diff.h"
#include "analysis/dlprof/model.h"
#include "analysis/overview/run_overview.h"
#include "analysis/partial/job_result.h"
#include "analysis/partial/partial_bytes.h"
#include "analysis/recipes/recipe.h"
#include "analysis/stats/expert_rule.h"
#include "analysis/stats/stats_report.h"
#include "analysis/tables/registry.h"
#include "export/exporter.h"
#include "report/files/report_folder.h"
#include "report/tables/table_format.h"
#include "report/terminal/diff_text.h"
#include "report/terminal/findings_text.h"
#include "report/terminal/ranks_text.h"
#include "report/terminal/summary.h"
#include "report/terminal/tree_text.h"
#include "report/timeline/timeline_page.h"
#include "serve/api.h"

namespace batchlight::fuzz {
namespace {

constexpr uint32_t kStackKinds = 3;  // of ExportStacks
constexpr size_t kRows = 20;         // that are printed of a table

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
    ResultTable table = MakeTable(entry, overview);
    AddStepColumns(entry, overview, &table);
    (void)TableText(formats[next++ % formats.size()], RowsOf(table));
  }
}

// Against itself: nothing differs.
void PrintDiff(const RunOverview& overview) {
  const RunDiff diff = DiffRuns(overview, overview);
  (void)DiffAsText(diff, {}, {}, kRows);
  (void)DiffAsMarkdown(diff, {}, kRows);
  (void)DiffAsCsv(diff);
  (void)DiffAsJson(diff, {});
  (void)DiffAsHtml(diff, {}, "fuzz");
}

// Of each rank what a sealed recording keeps, and back.
void PrintRanks(const Store& store) {
  const std::string bytes = EncodeJobPart(MakeJobPart("fuzz", store));
  auto part = DecodeJobPart(bytes, true);
  if (!part) std::abort();
  std::vector<JobPart> parts;
  parts.push_back(*std::move(part));
  const auto job = CompareRanks(std::move(parts), JobClock::kCollectives);
  if (!job.ok()) return;
  (void)RanksAsText(job.value(), {}, kRows);
  (void)RanksAsJson(job.value());
}

// Of two ranks that are alike; and of what another machine sent, where one byte is another.
void RunRecipes(const Store& store, uint32_t choice) {
  for (const recipes::RecipeName& recipe : recipes::RecipeNames()) {
    if (!recipe.here) continue;
    const recipes::RecipeCall call = recipes::ParseRecipe(std::string(recipe.name)).value();
    const auto part = recipes::MapRecipe(call, "fuzz", store);
    if (!part.ok()) continue;
    (void)recipes::ReduceRecipe(call, {part.value(), part.value()});
    std::string changed = part.value();
    if (changed.empty()) continue;
    changed[choice % changed.size()] = static_cast<char>(choice >> 24);
    (void)recipes::ReduceRecipe(call, {changed});
  }
}

void FillAll(const RowSource& rows) {
  std::vector<Cell> cells(rows.columns.size());
  for (size_t row = 0; row < rows.row_count; ++row) rows.fill(row, cells);
}

void PrintStats(const Store& store) {
  for (const stats::Report& report : stats::Reports()) {
    if (!report.missing(store).empty()) continue;
    const auto rows = stats::RunReport(report, {store, {}, {}, false});
    if (rows.ok()) FillAll(rows.value());
  }
}

// What `analyze` says: the findings, and the rules of `nsys analyze`.
void Analyze(const RunOverview& overview) {
  (void)FindingsText(overview.findings, {}, overview.store, {"fuzz"});
  for (const stats::ExpertRule& rule : stats::ExpertRules()) {
    if (!rule.missing(*overview.store).empty()) continue;
    const auto result = stats::RunRule(rule, {*overview.store, {}, {}, false});
    if (result.ok()) FillAll(result->rows);
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
    options.operators_as_ranges = choice % 4 == 0;
    options.by_gpu = choice % 3 == 0;
    options.stacks = static_cast<ExportStacks>(choice / exporters.size() % kStackKinds);
    (void)exporters[which].run(*overview.store, options);
  }
  std::error_code ignored;
  std::filesystem::remove_all(output, ignored);
}

// Texts that suit every call: of the whole run, and of its first event.
std::vector<std::string> Requests(const serve::ApiContext& context) {
  const auto run = nlohmann::json::parse(serve::AnswerCall(context, "run", "{}").body);
  nlohmann::json all = {{"from", run["from"]},
                        {"to", run["to"]},
                        {"at", run["from"]},
                        {"step", 1000},
                        {"bins", 10},
                        {"text", "a"},
                        {"ref", 0},
                        {"name", 0},
                        {"ids", {0, 1, 2}},
                        {"rows", {{0, 0, 4}, {1, 0, 4}, {2, 0, 4}}},
                        {"notes", {{{"a", 1}}}},
                        {"tables", {"phases", "events"}}};
  std::vector<std::string> requests = {"{}", all.dump()};
  all["first_step"] = 0;
  all["last_step"] = 1;
  all["kind"] = "gap";
  requests.push_back(all.dump());
  return requests;
}

}  // namespace

void RunView(Store store) {
  store.source = Folder() + "/run";  // its notes lie beside it
  serve::ApiContext context{.runs = {}, .version = "fuzz"};
  context.runs.push_back(std::make_unique<serve::Run>(
      serve::RunSource{.path = "fuzz",
                       .read = [&store] { return Result<Store>(std::move(store)); },
                       .version = [] { return uint64_t{0}; },
                       .growing = [] { return false; },
                       .steps = {}}));
  if (!context.runs[0]->Read().ok()) return;
  for (const std::string& request : Requests(context)) {
    for (const serve::RunCallEntry& entry : serve::RunCalls()) {
      (void)serve::AnswerCall(context, entry.name, request);
    }
  }
  (void)MakeTimelinePage(context.runs[0]->snapshot()->timeline());
}

void RunCommands(const Store& store, uint32_t choice) {
  const RunOverview overview = BuildOverview(store, {.phase_events = true});
  (void)SummaryAsText(overview, {});
  (void)SummaryAsJson(overview);
  (void)TreeText(overview, {}, {.by_gpu = choice % 2 == 0, .least = 0});
  PrintTables(overview);
  PrintDiff(overview);
  PrintRanks(store);
  RunRecipes(store, choice);
  (void)dlprof::BuildModel(overview, {.simple = choice % 2 == 0});
  PrintStats(store);
  Analyze(overview);
  Write(overview, choice / 2);
}

}  // namespace batchlight::fuzz
