// batchlight diff A B: what changed between two recordings, and gates for CI.
#include <cstdio>
#include <memory>
#include <string>

#include "analysis/diff/gate.h"
#include "analysis/diff/run_diff.h"
#include "base/file.h"
#include "cli/flags/command.h"
#include "cli/flags/step_flags.h"
#include "cli/reading/job_input.h"
#include "cli/reading/reading_notes.h"
#include "cli/reading/standard_output.h"
#include "report/terminal/diff_text.h"

namespace batchlight::cli {
namespace {

struct DiffFlags {
  std::string a;
  std::string b;
  JobUse use;
  std::string format = "text";
  std::string output;
  std::string fail_on;
  StepOptions steps;
  size_t rows = 8;
};

std::string Render(const DiffFlags& flags, const RunDiff& diff,
                   const std::vector<GateResult>& gates) {
  if (flags.format == "csv") return DiffAsCsv(diff);
  if (flags.format == "html") return DiffAsHtml(diff, gates, BATCHLIGHT_VERSION);
  if (flags.format == "json") return DiffAsJson(diff, gates);
  if (flags.format == "markdown") return DiffAsMarkdown(diff, gates, flags.rows);
  const TerminalStyle style =
      flags.output.empty() ? TerminalStyle::Of(stdout) : TerminalStyle{.width = 100};
  return DiffAsText(diff, gates, style, flags.rows);
}

Status Write(const DiffFlags& flags, const std::string& text) {
  if (!flags.output.empty()) return WriteWholeFile(flags.output, text);
  // Text for a terminal is clean and has colours.
  const bool is_data = flags.format == "csv" || flags.format == "html" || flags.format == "json";
  RETURN_IF_ERROR(is_data ? WriteNamesOut(text) : WriteOut(text));
  return FinishOut();
}

// Sets the exit code 1 if a gate fails. Gates are parsed before the recordings are read, so that a
// wrong one is reported at once.
Status Compare(const DiffFlags& flags, Outcome& outcome) {
  RETURN_IF_ERROR(CheckStepFlags(flags.steps));
  std::vector<Gate> gates;
  if (!flags.fail_on.empty()) {
    ASSIGN_OR_RETURN(gates, ParseGates(flags.fail_on));
  }
  ASSIGN_OR_RETURN(const Store store_a, OpenJob({flags.a}, flags.use));
  ASSIGN_OR_RETURN(const Store store_b, OpenJob({flags.b}, flags.use));
  SayReadingNotes(flags.a, store_a);
  SayReadingNotes(flags.b, store_b);
  const MeasureOptions options{.steps = flags.steps};
  const RunOverview a = BuildOverview(store_a, options);
  const RunOverview b = BuildOverview(store_b, options);
  RETURN_IF_ERROR(CheckStepsAreThere(flags.a, a.steps));
  RETURN_IF_ERROR(CheckStepsAreThere(flags.b, b.steps));
  const RunDiff diff = DiffRuns(a, b);
  if (!gates.empty() && !diff.problem.empty()) {
    return InputError("--fail-on " + flags.fail_on + ": " + DiffVerdict(diff));
  }
  ASSIGN_OR_RETURN(const std::vector<GateResult> results, CheckGates(gates, diff));
  RETURN_IF_ERROR(Write(flags, Render(flags, diff, results)));
  for (const GateResult& result : results) {
    if (!result.failed) continue;
    outcome.exit_code = static_cast<int>(ErrorKind::kGate);
    std::fprintf(stderr, "batchlight: gate %s failed: %s\n", result.text.c_str(),
                 result.finding.c_str());
  }
  return {};
}

}  // namespace

void RegisterDiff(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<DiffFlags>();
  const Command command = app.Add(
      "diff", "Compare two recordings: how much slower a step is, and what that comes from");
  command
      .Option("A", &flags->a,
              "Recording before the change; a folder or a quoted pattern: ranks of one job")
      .Required();
  command.Option("B", &flags->b, "Recording after the change, likewise").Required();
  command.Option("-f,--format", &flags->format, "text, html, csv, json or markdown")
      .OneOf({"text", "html", "csv", "json", "markdown"})
      .ShowDefault();
  command.Option("-o,--output", &flags->output, "File; default: standard output").TypeName("FILE");
  command
      .Option("--fail-on", &flags->fail_on,
              "Exit with 1 if B is slower than this, such as 'step>3%,forward>1ms' or "
              "'operator:aten::mm>5%'")
      .TypeName("LIMIT,...");
  AddClockFlag(command, &flags->use);
  AddStepFlags(command, &flags->steps);
  command.Option("--rows", &flags->rows, "Rows of each list").NotNegative().ShowDefault();
  command.Runs([flags, &outcome] { outcome.status = Compare(*flags, outcome); });
}

}  // namespace batchlight::cli
