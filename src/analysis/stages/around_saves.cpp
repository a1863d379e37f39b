#include "analysis/stages/around_saves.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/lines/code_samples.h"
#include "analysis/steps/step_inputs.h"

namespace batchlight {
namespace {

constexpr double kOfTraining = 0.02;

std::vector<TimeSpan> SpansWithASave(const std::vector<StageSpan>& stages,
                                     const std::vector<TimeSpan>& saves) {
  std::vector<TimeSpan> spans;
  for (const StageSpan& stage : stages) {
    if (!IsBetween(stage.kind) || NsInside(saves, stage.start_ns, stage.end_ns) == 0) continue;
    AddSpan(spans, stage.start_ns, stage.end_ns);
  }
  return spans;
}

std::vector<TimeSpan> LoadingOf(const StepInputs& inputs, ThreadId thread) {
  std::vector<TimeSpan> loading;
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs.marks.all()[row];
    if (mark.kind == PhaseKind::kDataLoading) AddSpan(loading, mark.start_ns, mark.end_ns);
  }
  return loading;
}

std::vector<TimeSpan> TrainingOf(const std::vector<StageSpan>& stages) {
  std::vector<TimeSpan> spans;
  for (const StageSpan& stage : stages) {
    if (stage.kind == StageKind::kTraining) AddSpan(spans, stage.start_ns, stage.end_ns);
  }
  return spans;
}

using FunctionTimes = std::map<FunctionName, int64_t>;

// Without what only a look or two at the edge of a step saw.
FunctionTimes FunctionsOfTraining(const CodeSamples& samples, ThreadId thread,
                                  const std::vector<StageSpan>& stages) {
  FunctionTimes functions = samples.OnStacks(thread, TrainingOf(stages));
  int64_t most_ns = 0;
  for (const auto& [function, ns] : functions) most_ns = std::max(most_ns, ns);
  std::erase_if(functions, [&](const auto& function) {
    return double(function.second) < kOfTraining * double(most_ns);
  });
  return functions;
}

// torch.nn.Module.state_dict, an optimizer's, or what gathers one over ranks.
bool GathersState(const Store& store, PythonStackId stack) {
  for (; !stack.IsNone(); stack = store.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store.python_stacks.frame[stack.row()];
    if (frame.IsNone()) continue;
    const std::string_view function = store.Text(store.python_frames.function[frame.row()]);
    if (function.find("state_dict") != function.npos) return true;
  }
  return false;
}

// Where the loop's thread was in functions that the loop calls for something else than the save, as
// for a metric of the epoch.
std::vector<TimeSpan> OfOtherFunctions(const Store& store, ThreadId thread,
                                       const std::vector<StageSpan>& stages,
                                       const std::vector<TimeSpan>& saves,
                                       const std::vector<TimeSpan>& around) {
  const CodeSamples samples(store);
  if (samples.empty() || around.empty()) return {};
  const FunctionTimes loop = FunctionsOfTraining(samples, thread, stages);
  const auto called_on = [&](PythonStackId stack) {
    const SampledFunction called = samples.CalledOrInLoop(loop, stack);
    return FunctionName{called.file, called.line == 0 ? "" : called.function};
  };
  std::set<FunctionName> savers;
  for (const CodeLook& look : samples.LooksIn(thread, saves)) savers.insert(called_on(look.stack));
  if (savers.empty()) return {};
  std::vector<TimeSpan> others;
  for (const CodeLook& look : samples.LooksIn(thread, around)) {
    const FunctionName called = called_on(look.stack);
    if (called.second.empty() || loop.contains(called) || savers.contains(called)) continue;
    if (!GathersState(store, look.stack)) AddSpan(others, look.at_ns - look.ns, look.at_ns);
  }
  return others;
}

}  // namespace

std::vector<TimeSpan> AroundSaves(const StepInputs& inputs, ThreadId thread,
                                  const std::vector<StageSpan>& stages,
                                  const std::vector<TimeSpan>& saves) {
  const std::vector<TimeSpan> spans = SpansWithASave(stages, saves);
  if (spans.empty()) return {};
  // A loader that ends stops its workers, which can take seconds.
  const std::vector<TimeSpan> others = UniteSpans(
      LoadingOf(inputs, thread), OfOtherFunctions(inputs.store, thread, stages, saves, spans));
  std::vector<TimeSpan> around;
  for (const TimeSpan& span : spans) {
    VisitGaps(others, span.start_ns, span.end_ns,
              [&](int64_t from_ns, int64_t to_ns) { AddSpan(around, from_ns, to_ns); });
  }
  return around;
}

}  // namespace batchlight
