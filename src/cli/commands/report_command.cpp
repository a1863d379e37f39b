// batchlight report: a folder with the page, one CSV per table, the picture and the snippet.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analysis/overview/run_overview.h"
#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/flags/step_flags.h"
#include "cli/reading/job_input.h"
#include "cli/reading/reading_notes.h"
#include "cli/reading/stall_tables.h"
#include "cli/reading/standard_output.h"
#include "ingest/input_paths.h"
#include "ingest/recording/source_lines.h"
#include "report/files/report_folder.h"

namespace batchlight::cli {
namespace {

struct ReportFlags {
  std::vector<std::string> runs;
  std::string overwrite_words;
  JobUse use;
  ReportOptions report;
  bool no_command_line = false;
  bool embed_source = false;
  StepOptions steps;
};

// runs/train.batchlight -> runs/train_report
std::string FolderFor(std::string input) {
  while (input.size() > 1 && input.back() == '/') input.pop_back();
  const size_t name = input.rfind('/') == std::string::npos ? 0 : input.rfind('/') + 1;
  const size_t dot = input.find('.', name + 1);
  return input.substr(0, dot) + "_report";
}

void ForgetCommandLines(SessionInfo& session) {
  session.command.clear();
  for (ProcessInfo& process : session.processes) process.command_line.clear();
}

// Of one recording: the ranks of a job have samples of their own.
Status AddStallTables(const std::vector<std::string>& runs, const Store& store,
                      ReportOptions& report) {
  ASSIGN_OR_RETURN(const std::vector<std::string> inputs, FindInputs(runs));
  if (inputs.size() != 1) return {};
  ASSIGN_OR_RETURN(report.more_tables, ReadStallTables(store, inputs.front()));
  return {};
}

Status Run(const ReportFlags& options) {
  RETURN_IF_ERROR(CheckRuns("report", options.runs,
                            "-f replaces an existing report, which has a page and a CSV of every "
                            "table"));
  const std::string run = LabelOf(options.runs);
  RETURN_IF_ERROR(CheckStepFlags(options.steps));
  ReportOptions report = options.report;
  if (report.folder.empty()) report.folder = FolderFor(options.runs[0]);
  report.version = BATCHLIGHT_VERSION;
  ASSIGN_OR_RETURN(const Store store, OpenJob(options.runs, options.use));
  SayReadingNotes(run, store);
  RunOverview overview = BuildOverview(store, {.steps = options.steps, .phase_events = true});
  if (options.embed_source) {
    for (auto& [path, text] : ReadSourceFiles(store)) report.sources.push_back({path, text});
  }
  RETURN_IF_ERROR(AddStallTables(options.runs, store, report));
  if (options.no_command_line) ForgetCommandLines(overview.session);
  RETURN_IF_ERROR(CheckStepsAreThere(run, overview.steps));
  auto written = WriteReportFolder(overview, report);
  if (!written.ok()) return Status(written.status()).WithContext("writing the report");
  return WriteNamesOut(written.value().front() + "\n");
}

}  // namespace

void RegisterReport(const Command& app, Outcome& outcome) {
  auto options = std::make_shared<ReportFlags>();
  const Command command = app.Add(
      "report", "Write a folder with a web page, one CSV per table, a chart and a README snippet");
  AddRuns(command, &options->runs);
  command
      .Option("-o,--output", &options->report.folder, "Folder; default: the name of RUN + _report")
      .TypeName("FOLDER");
  command
      .Option("-f,--force-overwrite", &options->overwrite_words,
              "Write into an existing folder; only files of the report are replaced")
      .TypeName("true|false")
      .ValueIsOptional();
  command.Switch("--no-command-line", &options->no_command_line,
                 "Leave command lines out, of the run and of its processes");
  command.Switch("--no-timeline", &options->report.no_timeline,
                 "Leave the timeline out of the page, which is smaller then");
  command.Switch("--embed-source", &options->embed_source,
                 "Write source.html too: your Python source with the time and memory of each line "
                 "beside it, if its files have not been changed since the run");
  command.Switch("--spreadsheet", &options->report.spreadsheet,
                 "CSVs: an apostrophe before names that begin with = + - @, which spreadsheets "
                 "would take for formulas");
  AddClockFlag(command, &options->use);
  AddStepFlags(command, &options->steps);
  command.Runs([options, command, &outcome] {
    options->report.overwrite =
        TakeBoolWord(options->overwrite_words, command.Given("--force-overwrite"), options->runs);
    outcome.status = Run(*options);
  });
}

}  // namespace batchlight::cli
