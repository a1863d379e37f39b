#include "timeline/tracks/continue_steps.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/steps/step_window.h"
#include "timeline/tracks/reading_fit.h"

namespace batchlight::timeline {
namespace {

bool IsSteady(const Step& step) { return step.kind == StepKind::kSteady; }

// What is unusually long is so among all steps.
void JudgeByAll(const ProcessSteps& all, ProcessSteps& newer) {
  const int64_t first = all.steps.front().number;
  newer.outlier_count = 0;
  for (Step& step : newer.steps) {
    const auto place = static_cast<uint64_t>(step.number - first);
    step.outlier = place < all.steps.size() && all.steps[place].outlier;
    newer.outlier_count += step.outlier;
  }
}

// Appends to `all`, which has the older's up to the moment, what follows of `newer`, and numbers
// that as it goes on. False: it does not follow, or other steps are found where both tell.
bool Continue(ProcessSteps& all, ProcessSteps& newer) {
  const bool is_first = all.steps.empty();
  const int64_t end_ns = is_first ? INT64_MIN : all.steps.back().end_ns;
  const auto slack_ns = static_cast<int64_t>(newer.duration.median / 2);
  const auto first = std::find_if(newer.steps.begin(), newer.steps.end(), [&](const Step& step) {
    return is_first || step.start_ns >= end_ns - slack_ns;
  });
  const bool meets = first != newer.steps.begin() && std::prev(first)->end_ns == end_ns;
  bool fits = !is_first && meets && RiseByOne(all) && RiseByOne(newer);
  int64_t shift = 0;
  if (!is_first) {
    shift = first == newer.steps.end() ? all.steps.back().number - newer.steps.back().number
                                       : all.steps.back().number + 1 - first->number;
  }
  const bool is_warm = std::any_of(all.steps.begin(), all.steps.end(), IsSteady);
  for (Step& step : newer.steps) {
    step.number += shift;
    // What begins a reading is no warm-up.
    if (is_warm && step.kind == StepKind::kWarmUp) step.kind = StepKind::kSteady;
  }
  // But for the first, which may be cut.
  for (auto step = newer.steps.begin() + 1; step < first; ++step) {
    const int64_t place = static_cast<int64_t>(all.steps.size()) - (first - step);
    fits = fits && place >= 0 && all.steps[static_cast<size_t>(place)].end_ns == step->end_ns &&
           all.steps[static_cast<size_t>(place)].kind == step->kind;
  }
  for (auto step = first; step != newer.steps.end(); ++step) {
    all.steps.push_back(*step);
    all.steps.back().start_ns = std::max(step->start_ns, end_ns);
  }
  CountSteady(all);
  CountSteady(newer);
  JudgeByAll(all, newer);
  return fits;
}

}  // namespace

ContinuedSteps ContinueSteps(const StepSet& older, StepSet newer, int64_t at_ns,
                             const std::function<ProcessId(ProcessId)>& same) {
  ContinuedSteps result{.all = older, .newer = std::move(newer)};
  size_t continued = 0;
  for (ProcessSteps& all : result.all.processes) {
    std::erase_if(all.steps, [&](const Step& step) { return step.end_ns > at_ns; });
    const auto at = std::find_if(result.newer.processes.begin(), result.newer.processes.end(),
                                 [&](const ProcessSteps& process) {
                                   return same(process.process) == all.process &&
                                          process.source == all.source &&
                                          process.marker == all.marker;
                                 });
    if (at != result.newer.processes.end()) {
      continued += Continue(all, *at);
    }
    if (!all.steps.empty() && at == result.newer.processes.end()) CountSteady(all);
  }
  result.fits =
      continued == result.all.processes.size() && continued == result.newer.processes.size();
  std::erase_if(result.all.processes,
                [](const ProcessSteps& process) { return process.steps.empty(); });
  return result;
}

}  // namespace batchlight::timeline
