// batchlight summary INPUT: the summary of a recording again.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/flags/step_flags.h"
#include "cli/reading/job_input.h"
#include "cli/reading/standard_output.h"
#include "report/terminal/summary.h"

namespace batchlight::cli {
namespace {

struct SummaryFlags {
  std::vector<std::string> runs;
  JobUse use;
  bool json = false;
  size_t rows = 8;
  StepOptions steps;
};

std::string RecordingText(const std::vector<std::string>& runs) {
  return runs.size() == 1 ? "the recording" : "the recordings of one job";
}

Status PrintSummaryOf(const SummaryFlags& flags) {
  RETURN_IF_ERROR(CheckStepFlags(flags.steps));
  RETURN_IF_ERROR(CheckRuns("summary", flags.runs));
  ASSIGN_OR_RETURN(const Store store, OpenJob(flags.runs, flags.use));
  const std::string input = LabelOf(flags.runs);
  const RunOverview overview = BuildOverview(store, {.steps = flags.steps});
  RETURN_IF_ERROR(CheckStepsAreThere(input, overview.steps));
  const std::string text =
      flags.json ? SummaryAsJson(overview)
                 : SummaryAsText(overview, {.style = TerminalStyle::Of(stdout),
                                            .rows = flags.rows,
                                            .files = {{input, RecordingText(flags.runs)}}});
  return WriteOut(text);
}

}  // namespace

void RegisterSummary(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<SummaryFlags>();
  const Command command =
      app.Add("summary", "Show what ran, how long a step takes and where its time goes");
  AddRuns(command, &flags->runs);
  AddClockFlag(command, &flags->use);
  command.Switch("--json", &flags->json, "One JSON object on standard output; times in ns");
  command.Option("--rows", &flags->rows, "Rows of each list").NotNegative().ShowDefault();
  AddStepFlags(command, &flags->steps);
  command.Runs([flags, &outcome] { outcome.status = PrintSummaryOf(*flags); });
}

}  // namespace batchlight::cli
