#include "analysis/stages/around_saves.h"

#include <set>
#include <string_view>
#include <utility>

#include "analysis/lines/code_samples.h"

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
  const auto loop =
      samples.OftenOnStacks(thread, SpansOf(stages, StageKind::kTraining), kOfTraining);
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

std::vector<TimeSpan> AroundSaves(const Store& store, ThreadId thread,
                                  const std::vector<StageSpan>& stages,
                                  const std::vector<TimeSpan>& saves,
                                  const std::vector<TimeSpan>& loading) {
  const std::vector<TimeSpan> spans = SpansWithASave(stages, saves);
  if (spans.empty()) return {};
  // A loader that ends stops its workers, which can take seconds.
  const std::vector<TimeSpan> others =
      UniteSpans(loading, OfOtherFunctions(store, thread, stages, saves, spans));
  std::vector<TimeSpan> around;
  for (const TimeSpan& span : spans) {
    VisitGaps(others, span.start_ns, span.end_ns,
              [&](int64_t from_ns, int64_t to_ns) { AddSpan(around, from_ns, to_ns); });
  }
  return around;
}

}  // namespace batchlight
