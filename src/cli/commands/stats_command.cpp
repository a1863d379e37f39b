// batchlight stats: nsys-compatible tables. Data goes to stdout, files or programs, notices to
// stderr.
#include "cli/commands/stats_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "analysis/stats/rank_parts.h"
#include "analysis/stats/stats_report.h"
#include "base/file.h"
#include "base/nearest.h"
#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/reading/event_filter.h"
#include "cli/reading/job_input.h"
#include "cli/reading/nsys_flags.h"
#include "cli/reading/reading_notes.h"
#include "cli/reading/report_script.h"
#include "cli/reading/standard_output.h"
#include "cli/reading/table_outputs.h"
#include "ingest/input_paths.h"
#include "ingest/open_input.h"

namespace batchlight::cli {
namespace {

struct StatsFlags : NsysFlags {
  std::vector<std::string> inputs;
  JobUse use;
  std::vector<std::string> reports;
  std::vector<std::string> report_folders;
  std::string help_reports;
};

struct ChosenReport {
  const stats::Report* report;  // null: a script of this name
  std::vector<std::string> args;
  std::string name;
};

Result<std::vector<ChosenReport>> ChooseReports(const std::vector<std::string>& lists,
                                                const ReportScripts& scripts) {
  std::vector<ChosenReport> chosen;
  ASSIGN_OR_RETURN(std::vector<ReportSpec> specs, ParseReportList(lists));
  for (ReportSpec& spec : specs) {
    if (scripts.Find(spec.name).has_value()) {  // before ours, as nsys looks for them
      chosen.push_back({nullptr, std::move(spec.args), spec.name});
      continue;
    }
    const stats::Report* report = stats::FindReport(spec.name);
    if (report == nullptr) {
      return UsageError("no report \"" + spec.name + "\"" +
                        DidYouMean(stats::NearestReports(spec.name)) +
                        "; --help-reports lists them all");
    }
    RETURN_IF_ERROR(stats::CheckReportArguments(*report, spec.args));
    chosen.push_back({report, std::move(spec.args), std::string(report->name)});
  }
  if (!chosen.empty()) return chosen;
  for (const std::string_view name : stats::DefaultReports()) {
    chosen.push_back({stats::FindReport(name), {}, std::string(name)});
  }
  return chosen;
}

// What all reports of one call share.
struct Inputs {
  std::vector<const Store*> stores;
  std::vector<EventFilter> filters;  // one per store
  ReportScripts* scripts;
  stats::RankParts ranks;  // for the reports that compare ranks
};
const std::vector<stats::RankPart> kWholeInput(1);

struct Answer {
  RowSource rows;       // no rows and no columns where no input has what the report needs,
  std::string skipped;  // which this says
};

// Appends a line about an input that has no data for a report.
void AddSkipped(const Store& store, const std::string& why, std::string& skipped) {
  const std::string line = "SKIPPED: " + store.source + why;
  if (skipped.find(line) != skipped.npos) return;  // said for another rank of the input
  skipped += (skipped.empty() ? "" : "\n") + line;
}

Result<Answer> RunChosen(const Inputs& inputs, const ChosenReport& chosen, bool nsys_compat) {
  Answer answer;
  if (chosen.report == nullptr) {
    ASSIGN_OR_RETURN(answer.rows, inputs.scripts->Run(chosen.name, chosen.args, *inputs.stores[0]));
    return answer;
  }
  std::vector<RowSource> sources;
  std::vector<int64_t> ranks;
  const bool by_rank = chosen.report->several_inputs;
  for (const stats::RankPart& part : by_rank ? inputs.ranks.parts : kWholeInput) {
    const Store& store = *inputs.stores[part.input];
    std::string_view missing = chosen.report->missing(store);
    const bool wants_ranges = std::count(chosen.args.begin(), chosen.args.end(), "nvtx-name") > 0;
    if (missing.empty() && wants_ranges && store.nvtx_ranges.size() == 0) missing = stats::kNoNvtx;
    if (!missing.empty() && (by_rank || !stats::HasAllTables(store))) {
      AddSkipped(store, " does not contain " + std::string(missing) + ".", answer.skipped);
      continue;
    }
    const stats::Query query{store, inputs.filters[part.input].window, chosen.args, nsys_compat,
                             part.processes};
    ASSIGN_OR_RETURN(RowSource rows, stats::RunReport(*chosen.report, query));
    if (rows.row_count == 0 && !nsys_compat) {
      AddSkipped(store,
                 " has nothing for " + std::string(chosen.report->name) +
                     (query.window.all() ? "." : " in the time asked for."),
                 answer.skipped);
    }
    sources.push_back(std::move(rows));
    ranks.push_back(part.rank);
  }
  if (sources.empty()) return answer;
  answer.rows = by_rank && inputs.ranks.parts.size() > 1
                    ? stats::JoinRanks(std::move(sources), std::move(ranks))
                    : std::move(sources[0]);
  return answer;
}

// What the reports read of a recording. Those that compare ranks find these in operators; a script
// may read anything.
RecordedParts PartsOf(const std::vector<ChosenReport>& reports, const FilterFlags& filter) {
  const stats::TimeWindow window = WindowOf(filter);
  RecordedParts parts{.calls = false,
                      .ranges = filter.nvtx.has_value(),
                      .first_ns = window.start_ns,
                      .last_ns = window.end_ns};
  for (const ChosenReport& chosen : reports) {
    if (chosen.report == nullptr || stats::ReadsAllTime(*chosen.report)) {
      parts.first_ns = INT64_MIN;
      parts.last_ns = INT64_MAX;
    }
    const bool any = chosen.report == nullptr || chosen.report->several_inputs;
    parts.calls = parts.calls || any;
    parts.ranges = parts.ranges || any || stats::ReadsRanges(*chosen.report, chosen.args);
  }
  return parts;
}

Status RunReports(const Inputs& inputs, const std::vector<ChosenReport>& reports, bool nsys_compat,
                  TableOutputs& outputs) {
  const size_t count = std::max(reports.size(), outputs.count());
  for (size_t i = 0; i < count; ++i) {
    const ChosenReport& chosen = reports[std::min(i, reports.size() - 1)];
    const EventFilter& filter = inputs.filters[0];
    std::string file_part = chosen.name + filter.file_part;
    std::string arguments = filter.arguments;
    for (const std::string& arg : chosen.args) {
      file_part += '_' + arg;
      arguments += (arguments.empty() ? "" : ":") + arg;
    }
    outputs.Announce(i, chosen.name, arguments, file_part);
    ASSIGN_OR_RETURN(const Answer answer, RunChosen(inputs, chosen, nsys_compat));
    RETURN_IF_ERROR(outputs.Write(i, answer.rows, file_part));
    outputs.Finish(i, answer.rows.row_count == 0, answer.skipped);
  }
  return Status();
}

// Whether all reports compare ranks: those take each input by itself, others all as one job.
bool CompareRanks(const std::vector<ChosenReport>& reports) {
  return std::all_of(reports.begin(), reports.end(), [](const auto& chosen) {
    return chosen.report != nullptr && chosen.report->several_inputs;
  });
}

Status CheckInputs(const std::vector<std::string>& inputs, const std::vector<ChosenReport>& reports,
                   bool filtered) {
  for (const ChosenReport& chosen : reports) {
    if (chosen.report != nullptr || !filtered) continue;
    return UsageError("report script " + chosen.name +
                      " reads the whole database: --filter-time and --filter-nvtx cannot be given");
  }
  return CheckRuns("stats", inputs);
}

void PrintMore(const stats::Report& report, const char* indent) {
  std::printf("%s%s\n", indent, std::string(report.help).c_str());
  if (report.old_names.empty()) return;
  std::printf("%sOlder names: %s\n", indent, std::string(report.old_names).c_str());
}

Status ListReports(const std::string& which, const ReportScripts& scripts) {
  if (which.empty() || which == "ALL" || which == "all") {
    for (const stats::Report& report : stats::Reports()) {
      std::string usage = std::string(report.name) + std::string(report.usage);
      std::printf("  %s -- %s\n", usage.c_str(), std::string(report.title).c_str());
      if (!which.empty()) PrintMore(report, "      ");
    }
    for (const std::string& name : scripts.Names()) {
      RETURN_IF_ERROR(WriteNamesOut("  " + name + " -- script " + *scripts.Find(name) + '\n'));
    }
    return Status();
  }
  if (const std::optional<std::string> script = scripts.Find(which); script.has_value()) {
    return WriteNamesOut(which + " -- script " + *script + '\n');
  }
  const stats::Report* report = stats::FindReport(which);
  if (report == nullptr) {
    return UsageError("no report \"" + which + "\"" + DidYouMean(stats::NearestReports(which)));
  }
  std::printf("%s%s -- %s\n\n", std::string(report->name).c_str(),
              std::string(report->usage).c_str(), std::string(report->title).c_str());
  PrintMore(*report, "");
  return Status();
}

Status RunStats(StatsFlags& flags) {
  flags.tables.force_overwrite =
      TakeBoolWord(flags.overwrite_words, flags.tables.force_overwrite, flags.inputs);
  TakeBoolWord(flags.export_words, true, flags.inputs);
  for (const std::string& folder : flags.report_folders) {
    if (!FileExists(folder)) return UsageError("--report-dir: there is no folder " + folder);
  }
  ReportScripts scripts(flags.report_folders);
  ASSIGN_OR_RETURN(const std::vector<ChosenReport> reports, ChooseReports(flags.reports, scripts));
  ASSIGN_OR_RETURN(flags.tables.time_unit, ParseTimeUnit(flags.time_unit));
  RETURN_IF_ERROR(CheckInputs(flags.inputs, reports, flags.filter.any()));
  RETURN_IF_ERROR(CheckFilterFlags(flags.filter));
  ASSIGN_OR_RETURN(const std::string first, PlaceOfInput(flags.inputs[0]));
  ASSIGN_OR_RETURN(TableOutputs outputs, TableOutputs::Create(flags.tables, first));
  const RecordedParts parts = PartsOf(reports, flags.filter);
  std::vector<std::unique_ptr<Store>> stores;
  Inputs inputs{{}, {}, &scripts, {}};
  flags.use.input = {
      .operators = false, .doubled_calls = flags.tables.nsys_compat, .recorded = parts};
  std::vector<std::vector<std::string>> jobs = {flags.inputs};
  if (CompareRanks(reports)) {
    jobs.clear();
    ASSIGN_OR_RETURN(const std::vector<std::string> paths, FindInputs(flags.inputs));
    for (const std::string& path : paths) jobs.push_back({path});
  }
  for (const std::vector<std::string>& job : jobs) {
    ASSIGN_OR_RETURN(Store store, OpenJob(job, flags.use));
    for (const std::string& line : ReadingNoteLines(LabelOf(job), store)) outputs.Notice(line);
    stores.push_back(std::make_unique<Store>(std::move(store)));
    ASSIGN_OR_RETURN(EventFilter filter,
                     MakeFilter(*stores.back(), flags.filter, flags.tables.nsys_compat));
    inputs.stores.push_back(stores.back().get());
    inputs.filters.push_back(std::move(filter));
  }
  const bool compare_ranks = std::any_of(reports.begin(), reports.end(), [](const auto& chosen) {
    return chosen.report != nullptr && chosen.report->several_inputs;
  });
  if (compare_ranks) inputs.ranks = stats::FindRankParts(inputs.stores);
  for (const std::string& note : inputs.ranks.notes) outputs.Notice("NOTE: " + note + ".");
  return RunReports(inputs, reports, flags.tables.nsys_compat, outputs);
}

}  // namespace

Status PrintDefaultStats(const Store& store) {
  ReportScripts scripts({});
  ASSIGN_OR_RETURN(const std::vector<ChosenReport> reports, ChooseReports({}, scripts));
  ASSIGN_OR_RETURN(TableOutputs outputs, TableOutputs::Create({}, store.source));
  return RunReports({{&store}, {EventFilter()}, &scripts, {}}, reports, false, outputs);
}

void RegisterStats(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<StatsFlags>();
  const Command stats = app.Add("stats", "Tables as `nsys stats` prints them");
  AddRuns(stats, &flags->inputs);
  AddClockFlag(stats, &flags->use);
  stats.Option("-r,--report", &flags->reports, "Reports: NAME[:ARG[=VALUE]]...[,...]")
      .TypeName("REPORT,...")
      .OneValueEach();
  stats.Option("--help-reports", &flags->help_reports, "List the reports; NAME or ALL for more")
      .TypeName("REPORT")
      .ValueIsOptional();
  stats
      .Option("--report-dir", &flags->report_folders,
              "Folder with reports of yours: NAME.py DATABASE [ARG]... prints CSV")
      .TypeName("FOLDER")
      .OneValueEach();
  AddNsysFlags(stats, flags.get());
  stats.Runs([flags, stats, &outcome] {
    flags->tables.force_overwrite = stats.Given("--force-overwrite");
    if (!flags->sqlite.empty()) flags->inputs = {flags->sqlite};
    if (stats.Given("--help-reports")) {
      outcome.status = ListReports(flags->help_reports, ReportScripts(flags->report_folders));
      return;
    }
    outcome.status =
        stats.Given("--help-formats") ? PrintFormatHelp(flags->help_formats) : RunStats(*flags);
  });
}

}  // namespace batchlight::cli
