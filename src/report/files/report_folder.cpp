#include "report/files/report_folder.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "analysis/partial/job_result.h"
#include "analysis/stats/stats_report.h"
#include "analysis/tables/registry.h"
#include "base/file.h"
#include "base/partial_folder.h"
#include "report/charts/canvas.h"
#include "report/charts/top_list_picture.h"
#include "report/files/snippet.h"
#include "report/page/html_page.h"
#include "report/page/page_data.h"
#include "report/tables/csv.h"
#include "report/text/run_text.h"
#include "report/text/top_list.h"
#include "report/timeline/timeline_page.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight {
namespace {

namespace fs = std::filesystem;

// With script and style the page stays below 5 MB, but for its timeline.
constexpr size_t kMostPageBytes = 4'500'000;

struct File {
  std::string name;
  std::string bytes;
};

std::vector<PageTable> MakeTables(const RunOverview& overview,
                                  const std::vector<ResultTable>& more_tables) {
  std::vector<PageTable> tables;
  for (const TableEntry& entry : OverviewTables()) {
    ResultTable table = MakeTable(entry, overview);
    if (table.rows.empty()) continue;
    tables.push_back({std::move(table), std::string(entry.name) + ".csv"});
  }
  for (const ResultTable& table : more_tables) {
    if (!table.rows.empty()) tables.push_back({table, table.name + ".csv"});
  }
  return tables;
}

std::string CsvOf(const RunOverview& overview, const PageTable& table, bool spreadsheet) {
  const TableEntry* entry = FindOverviewTable(table.table.name);
  if (entry == nullptr) return ToCsv(table.table, spreadsheet);
  ResultTable with_steps = table.table;
  AddStepColumns(*entry, overview, &with_steps);
  return ToCsv(with_steps, spreadsheet);
}

bool HasPicture(const std::vector<SnippetPicture>& pictures, std::string_view file) {
  return std::any_of(pictures.begin(), pictures.end(),
                     [&](const SnippetPicture& picture) { return picture.file == file; });
}

// For runs that used a GPU: the two tables that nsys users look for, under the names they know.
Status AddNsysTables(const RunOverview& overview, bool spreadsheet, std::vector<File>& files) {
  if (overview.gpu.empty()) return {};
  const stats::Query query{.store = *overview.store, .window = {}, .args = {}};
  for (const char* name : {"gpukernsum", "cudaapisum"}) {
    const stats::Report* report = stats::FindReport(name);
    if (!report->missing(*overview.store).empty()) continue;
    ASSIGN_OR_RETURN(const RowSource rows, stats::RunReport(*report, query));
    files.push_back({std::string(name) + ".csv", ToCsv(rows, spreadsheet)});
  }
  return {};
}

std::string TimelineOf(const RunOverview& overview, const ReportOptions& options) {
  if (options.no_timeline) return {};
  const auto timeline = timeline::BuildTimeline(*overview.inputs, overview.steps);
  if (timeline->tracks().empty()) return {};
  return MakeTimelineElements(*timeline).html;
}

// The ranks beside each other; nothing where there is one.
std::optional<JobResult> JobOf(const RunOverview& overview) {
  if (overview.steps.processes.size() < 2) return std::nullopt;
  std::vector<JobPart> parts;
  parts.push_back(
      MakeJobPart(overview.session.source, *overview.store, overview.steps, overview.breakdowns));
  Result<JobResult> job = CompareRanks(std::move(parts), JobClock::kNone);
  if (!job.ok()) return std::nullopt;
  return std::move(job).value();
}

Result<std::vector<File>> MakeFiles(const RunOverview& overview, const ReportOptions& options) {
  const std::vector<TopList> tops = MakeTopLists(overview);
  const std::vector<PageTable> tables = MakeTables(overview, options.more_tables);
  const std::vector<Finding>& advice = overview.findings;
  std::vector<File> files;
  const std::vector<GpuUtilization> utilization =
      MeasureUtilization(*overview.store, overview.steps, overview.gpu.breakdowns);
  const std::vector<MemoryCurve> memory = GpuMemoryCurves(*overview.store, overview.steps);
  const std::shared_ptr<const PhaseEvents> events = PhaseEventsOf(overview);
  const std::optional<JobResult> job = JobOf(overview);
  const PageInput input{.overview = &overview,
                        .phase_events = events.get(),
                        .advice = &advice,
                        .utilization = &utilization,
                        .memory = &memory,
                        .tops = &tops,
                        .tables = &tables,
                        .version = options.version,
                        .job = job ? &*job : nullptr};
  const std::string title = RunTitle(overview.session) + " - batchlight";
  files.push_back({"index.html", MakeHtmlPage(title, MakePageJsonWithin(input, kMostPageBytes),
                                              TimelineOf(overview, options))});
  if (std::string source = MakeSourcePage(overview, options.sources); !source.empty()) {
    files.push_back({"source.html", std::move(source)});
  }
  std::vector<SnippetPicture> pictures;
  const std::string extension = CanDrawPng() ? ".png" : ".svg";
  for (const TopList& list : tops) {
    // One picture of what the CPU does and, if the run used a GPU, one of its kernels.
    const bool kernels = list.key == "kernels";
    if (!kernels && HasPicture(pictures, "top10" + extension)) continue;
    const std::string name = (kernels ? "top10_kernels" : "top10") + extension;
    ASSIGN_OR_RETURN(std::string picture, DrawTopList(overview, list));
    files.push_back({name, std::move(picture)});
    pictures.push_back({name, "Top " + std::to_string(list.rows.size()) + " " + list.noun});
  }
  files.push_back({"README_snippet.md", MakeSnippet(overview, advice, tops, pictures)});
  for (const PageTable& table : tables) {
    files.push_back({table.csv, CsvOf(overview, table, options.spreadsheet)});
  }
  RETURN_IF_ERROR(AddNsysTables(overview, options.spreadsheet, files));
  return files;
}

// `into` is the folder of that name, or what will be.
Status WriteFiles(const std::string& folder, const Folder& into, const std::vector<File>& files) {
  for (const File& file : files) {
    RETURN_IF_ERROR(WriteWholeFile(folder + "/" + file.name, file.bytes, {.folder = &into}));
  }
  return {};
}

Status WriteOverFolder(const std::string& folder, const std::vector<File>& files) {
  const auto into = Folder::OpenForOutput(folder);
  if (!into.ok()) return OutputError(into.status().message());
  return WriteFiles(folder, into.value(), files);
}

// Everything is written beside the final folder, which is renamed into place when it is complete.
Status WriteNewFolder(const std::string& folder, const std::vector<File>& files) {
  std::error_code error;
  const fs::path above = fs::path(folder).parent_path();
  if (!above.empty()) fs::create_directories(above, error);
  if (error) return OutputError("cannot make folder " + folder + ": " + error.message());
  ASSIGN_OR_RETURN(PartialFolder partial, PartialFolder::Create(folder));
  RETURN_IF_ERROR(WriteFiles(folder, partial.held(), files));
  return partial.Rename();
}

}  // namespace

Result<std::vector<std::string>> WriteReportFolder(const RunOverview& overview,
                                                   const ReportOptions& options) {
  std::string folder = options.folder;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  std::error_code error;
  const fs::file_status existing = fs::status(folder, error);
  const bool exists = fs::exists(existing);
  if (exists && !fs::is_directory(existing)) {
    return OutputError(folder + " is there and is not a folder: choose another with -o");
  }
  if (exists && !options.overwrite && !fs::is_empty(folder, error)) {
    return OutputError("the folder " + folder +
                       " is not empty: add -f to replace the report in it, "
                       "or choose another with -o");
  }
  ASSIGN_OR_RETURN(const std::vector<File> files, MakeFiles(overview, options));
  RETURN_IF_ERROR(exists ? WriteOverFolder(folder, files) : WriteNewFolder(folder, files));
  std::vector<std::string> paths;
  for (const File& file : files) paths.push_back(folder + "/" + file.name);
  return paths;
}

}  // namespace batchlight
