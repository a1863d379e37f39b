// batchlight summary INPUT: the summary of a recording again.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/flags/step_flags.h"
#include "cli/reading/standard_output.h"
#include "ingest/open_input.h"
#include "report/terminal/summary.h"

namespace batchlight::cli {
namespace {

struct SummaryFlags {
  std::string input;
  bool json = false;
  size_t rows = 8;
  StepOptions steps;
};

Status PrintSummaryOf(const SummaryFlags& flags) {
  RETURN_IF_ERROR(CheckStepFlags(flags.steps));
  ASSIGN_OR_RETURN(const Store store, OpenInput(flags.input));
  const RunOverview overview = BuildOverview(store, {.steps = flags.steps});
  RETURN_IF_ERROR(CheckStepsAreThere(flags.input, overview.steps));
  const std::string text =
      flags.json ? SummaryAsJson(overview)
                 : SummaryAsText(overview, {.style = TerminalStyle::Of(stdout),
                                            .rows = flags.rows,
                                            .files = {{flags.input, "the recording"}}});
  return WriteOut(text);
}

}  // namespace

void RegisterSummary(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<SummaryFlags>();
  const Command command =
      app.Add("summary", "Show what ran, how long a step takes and where its time goes");
  AddRun(command, &flags->input);
  command.Switch("--json", &flags->json, "One JSON object on standard output; times in ns");
  command.Option("--rows", &flags->rows, "Rows of each list").NotNegative().ShowDefault();
  AddStepFlags(command, &flags->steps);
  command.Runs([flags, &outcome] { outcome.status = PrintSummaryOf(*flags); });
}

}  // namespace batchlight::cli
