// batchlight tree: model, modules, operators and kernels with their time, as a tree.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/overview/run_overview.h"
#include "base/nearest.h"
#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/flags/step_flags.h"
#include "cli/reading/job_input.h"
#include "cli/reading/reading_notes.h"
#include "cli/reading/standard_output.h"
#include "report/terminal/tree_text.h"

namespace batchlight::cli {
namespace {

struct TreeFlags {
  std::vector<std::string> runs;
  JobUse use;
  std::string below;
  bool gpu = false;
  size_t depth = 99;
  double least_percent = 1;
  size_t rows = 0;  // 0: all
  StepOptions steps;
};

void SayIfNoneIsBelow(const AttributionTree& tree, const std::string& wanted) {
  std::vector<std::string_view> names;
  for (const TreeNode& node : tree.nodes) {
    if (node.name.find(wanted) != std::string::npos) return;
    names.push_back(node.name);
  }
  SayLine("batchlight: no branch has a name with \"" + wanted + '"' +
          DidYouMean(NearestFew(wanted, names)));
}

Status Run(const TreeFlags& flags) {
  if (flags.least_percent < 0 || flags.least_percent > 100) {
    return UsageError("--least: a percentage from 0 to 100");
  }
  RETURN_IF_ERROR(CheckStepFlags(flags.steps));
  RETURN_IF_ERROR(CheckRuns("tree", flags.runs));
  const std::string input = LabelOf(flags.runs);
  ASSIGN_OR_RETURN(const Store store, OpenJob(flags.runs, flags.use));
  SayReadingNotes(input, store);
  const RunOverview overview = BuildOverview(store, {.steps = flags.steps});
  RETURN_IF_ERROR(CheckStepsAreThere(input, overview.steps));
  if (flags.gpu && overview.gpu.empty()) {
    return UsageError("--gpu: the recording holds no work on a GPU");
  }
  if (!flags.below.empty()) SayIfNoneIsBelow(overview.tree, flags.below);
  const std::string text = TreeText(overview, TerminalStyle::Of(stdout),
                                    {.by_gpu = flags.gpu,
                                     .depth = flags.depth,
                                     .least = flags.least_percent / 100,
                                     .rows = flags.rows,
                                     .below = flags.below});
  return WriteOut(text);
}

}  // namespace

void RegisterTree(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<TreeFlags>();
  const Command command =
      app.Add("tree", "Where the time goes: model, modules, operators, kernels");
  AddRuns(command, &flags->runs);
  command.Option("--below", &flags->below, "Only branches whose name contains this")
      .TypeName("TEXT");
  command.Option("--depth", &flags->depth, "At most so many levels").NotNegative().TypeName("N");
  command
      .Option("--least", &flags->least_percent,
              "Branches with a smaller share are put together, in percent")
      .TypeName("PERCENT")
      .ShowDefault();
  command.Option("--rows", &flags->rows, "At most so many branches, those with most time")
      .NotNegative()
      .TypeName("N");
  command.Switch("--gpu", &flags->gpu, "GPU time instead of CPU time");
  AddClockFlag(command, &flags->use);
  AddStepFlags(command, &flags->steps);
  command.Runs([flags, &outcome] { outcome.status = Run(*flags); });
}

}  // namespace batchlight::cli
