#include "report/text/recording_text.h"

#include <algorithm>
#include <cstdio>

#include "analysis/run/detailed_steps.h"
#include "report/text/number_text.h"
#include "report/text/run_text.h"

namespace batchlight {
namespace {

std::string Percent(double share) { return FixedText(100 * share, 1); }

// "; --overhead 3 %: 0.5 % in the mean of 600 steps, 41 of them with detail"
std::string BudgetText(const RecordingCost& cost) {
  if (cost.budget <= 0) return "";
  if (!cost.measured) return "; whether --overhead was kept cannot be told";
  const size_t all = cost.detailed_steps + cost.plain_steps;
  const double mean = cost.MeanShare();
  char asked[32];  // as it was given: 3, 0.5
  std::snprintf(asked, sizeof asked, "%g", 100 * cost.budget);
  std::string text = "; --overhead " + std::string(asked) + " %";
  text += mean > cost.budget ? " was not kept: " : ": ";
  return text + Percent(mean) + " % in the mean of " + CountText(all) + " steps, " +
         CountText(cost.detailed_steps) + " of them with detail";
}

std::string MeasuredText(const RecordingCost& cost) {
  const LongerBy& longer = *cost.measured;
  const double spread = std::max(longer.high_ns - longer.ns, longer.ns - longer.low_ns);
  const bool few_plain = cost.plain_steps <= cost.detailed_steps;
  std::string text = "recording adds " + TimeText(std::max(0.0, longer.ns)) + " to a step (" +
                     Percent(std::max(0.0, cost.Share(longer.ns))) + " % ± " +
                     Percent(cost.Share(spread)) + ", measured on " + CountText(longer.samples) +
                     (few_plain ? " control steps" : " steps with detail");
  if (cost.kept_ns > 0) {
    text += "; " + TimeText(cost.kept_ns) + " of it in steps without detail too, estimated";
  }
  text += ")";
  if (cost.without_graphs) text += ", without what CUPTI adds to CUDA graphs";
  if (longer.low_ns <= 0) text += ", no more than steps differ by themselves";
  return text + BudgetText(cost);
}

std::string EstimatedText(const RecordingCost& cost) {
  const bool from_nothing = cost.low_ns <= 0;
  const double plain_ns = std::max(1.0, cost.step_ns - cost.low_ns);
  std::string text =
      from_nothing ? "recording adds at most " + TimeText(cost.high_ns)
                   : "recording adds " + TimeText(cost.low_ns) + " to " + TimeText(cost.high_ns);
  const std::string low = from_nothing ? "" : Percent(cost.low_ns / plain_ns);
  const std::string high = Percent(cost.Share(cost.high_ns));
  text +=
      " to a step (" + (low.empty() || low == high ? "" : low + " to ") + high + " %, estimated)";
  for (size_t i = 0; i < std::min<size_t>(cost.kinds.size(), 3); ++i) {
    const RecordedKind& kind = cost.kinds[i];
    text += (i == 0 ? ": " : ", ") + FixedText(kind.per_step, kind.per_step < 10 ? 1 : 0) + " " +
            std::string(kind.what);
  }
  return text + BudgetText(cost);
}

}  // namespace

std::string RecordingCostText(const RunOverview& overview) {
  const RecordingCost& cost = overview.recording_cost;
  if (!cost.known() || cost.step_ns <= 0) return "";
  return cost.measured ? MeasuredText(cost) : EstimatedText(cost);
}

std::string DetailedStepsText(const RunOverview& overview) {
  const std::string from = FromSteps(overview);
  if (from.empty()) return "";
  return "operators, modules and kernels: " + from + "; those without detail take " +
         TimeText(double(FindDetailedSteps(overview.steps).plain_ns)) + " (median)";
}

std::string OperatorLevelsText(const RunOverview& overview) {
  const std::string levels(overview.store->Property(kOperatorLevelsKey));
  if (levels.empty()) return "";
  return "operators: the outermost " + levels + (levels == "1" ? " level" : " levels") +
         " (--pytorch-depth)";
}

}  // namespace batchlight
