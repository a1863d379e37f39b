// batchlight probe loader: whether a training loop waits for its data, and why; written in Python
// (python/batchlight/_probe_loader.py).
#include <memory>
#include <string>
#include <vector>

#include "capture/program/python_verb.h"
#include "cli/flags/command.h"

namespace batchlight::cli {
namespace {

struct LoaderFlags {
  double seconds = 10;
  size_t steps = 1000;
  double startup_seconds = 300;
  std::string workers;
  std::string format = "text";
  std::string output;
};

Status CheckWorkers(const std::string& workers) {
  if (workers.find_first_not_of("0123456789,") == std::string::npos && !workers.ends_with(',') &&
      !workers.starts_with(',') && workers.find(",,") == std::string::npos) {
    return {};
  }
  return UsageError("--workers takes numbers of workers, as in 0,2,8");
}

// Returns only with an error.
Status Run(const LoaderFlags& options, const std::vector<std::string>& program) {
  if (program.empty()) {
    return UsageError(
        "no program given: batchlight probe loader [flags] train.py [its words]; any command does "
        "(torchrun ..., python3 -m ...)");
  }
  if (!(options.seconds > 0) || !(options.startup_seconds > 0) || options.steps < 3) {
    return UsageError("--seconds and --startup must be more than 0, --steps at least 3");
  }
  RETURN_IF_ERROR(CheckWorkers(options.workers));
  std::vector<std::string> words = {"--seconds=" + std::to_string(options.seconds),
                                    "--steps=" + std::to_string(options.steps),
                                    "--startup=" + std::to_string(options.startup_seconds),
                                    "--workers=" + options.workers,
                                    "--format=" + options.format,
                                    "--output=" + options.output,
                                    "--"};
  words.insert(words.end(), program.begin(), program.end());
  return capture::BecomePython("probe-loader", words);
}

}  // namespace

void AddProbeLoader(const Command& probe, Outcome& outcome) {
  auto options = std::make_shared<LoaderFlags>();
  const Command command = probe.Add(
      "loader", "Run a training loop's loader and its training apart: which one limits, and why");
  command.Option("--seconds", &options->seconds, "At most so long in the loop, each time it runs")
      .TypeName("SECONDS")
      .ShowDefault();
  command.Option("--steps", &options->steps, "At most so many steps, each time it runs")
      .ShowDefault();
  command
      .Option("--startup", &options->startup_seconds,
              "How long the program may take until its loop begins")
      .TypeName("SECONDS")
      .ShowDefault();
  command
      .Option("--workers", &options->workers,
              "Numbers of workers to try (default: 0, 1, 2, 4, ... the processors)")
      .TypeName("N,...");
  command.Option("-f,--format", &options->format, "For people, or all figures")
      .OneOf({"text", "json"})
      .ShowDefault();
  command.Option("-o,--output", &options->output, "Write to this file instead of standard output")
      .TypeName("FILE");
  command.Details(
      "`batchlight probe loader train.py --epochs 1` runs the program several times, unchanged, "
      "each "
      "time until its training loop has made some steps: as it is; the loader alone; the training "
      "alone, on one batch; the loader with other numbers of workers; and the best setting with "
      "the "
      "training. What the program writes before and in these steps it writes each time. "
      "docs/probe.md explains the figures.");
  command.TakeAllWords();
  command.Runs([options, &outcome] { outcome.status = Run(*options, outcome.words); });
}

}  // namespace batchlight::cli
