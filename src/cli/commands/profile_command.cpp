// batchlight profile: record a program from its start to its end.
#include "cli/commands/profile_command.h"

#include <cstdio>

#include "cli/commands/plan_counters.h"
#include "cli/reading/print_help.h"

namespace batchlight::cli {
namespace {

void Profile(const Command& command, Outcome& outcome) {
  const std::vector<std::string>& words = outcome.words;
  if (words.size() == 1 && words[0] == "--help-markdown") {  // for docs/cli-profile.md
    std::fputs(FlagsMarkdown().c_str(), stdout);
    return;
  }
  auto flags = ParsedFlags::Parse(Verb::kProfile, words);
  if (!flags.ok()) {
    outcome.status = flags.status();
    return;
  }
  if (flags->help) {
    outcome.status = PrintHelp(command);
    return;
  }
  if (PrintGpuMetricsHelp(flags.value())) return;
  if (flags->command.empty()) {
    outcome.status = UsageError("no program to profile: batchlight profile [flags] program ...");
    return;
  }
  auto options = MakeProfileOptions(flags.value());
  if (!options.ok()) {
    outcome.status = options.status();
    return;
  }
  const bool prints = options->session.capture.stats;
  RunSession(options.value(), SummaryOn(stderr),
             prints ? capture::Inherits::kOutput : capture::Inherits::kNothing, outcome);
}

}  // namespace

void RegisterProfile(const Command& app, Outcome& outcome) {
  const Command command = app.Add("profile", "Record a program, print the summary");
  command.Details(
      "The program runs as it would without the profiler; at its end the summary is printed. "
      "Everything from "
      "the first word that is no flag, or after --, is the program and its arguments.\n\n"
      "The exit code is the program's: 128 + N if signal N ended it, 127 if it was not found, 126 "
      "if "
      "it could not be executed; 2 for wrong flags, 4 if the recording could not be written.");
  command.TakeAllWords();
  command.Runs([command, &outcome] { Profile(command, outcome); });
}

}  // namespace batchlight::cli
