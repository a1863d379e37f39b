#include "analysis/breakdown/hot_functions.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analysis/breakdown/phase_stretches.h"
#include "analysis/numbers/time_span.h"

namespace batchlight {
namespace {

constexpr std::array kPhases = {PhaseKind::kForward, PhaseKind::kBackward, PhaseKind::kOptimizer};
using Spans = std::vector<TimeSpan>;
// Of a function's time: less is the price of calling operators that do work.
constexpr double kPythonShare = 0.35;
constexpr double kOtherPhases = 0.1;  // of its time

// Of the thread that runs the steps: those that take `least_ns` or longer.
Spans Operators(const StepInputs& inputs, ThreadId thread, int64_t least_ns) {
  const OperatorCallsTable& calls = inputs.store.operator_calls;
  const ThreadSpans::Rows rows = inputs.operator_rows.Of(thread);
  Spans spans;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (calls.end_ns[row] == kOpenEnd) continue;
    if (calls.end_ns[row] - calls.start_ns[row] < least_ns) continue;
    if (!inputs.store.Text(calls.name[row]).starts_with("aten::")) continue;
    AddSpan(spans, calls.start_ns[row], calls.end_ns[row]);
  }
  return spans;
}

// `spans` without `others`.
Spans Without(const Spans& others, const Spans& spans) {
  Spans rest;
  for (const TimeSpan& span : spans) {
    VisitGaps(others, span.start_ns, span.end_ns,
              [&](int64_t from_ns, int64_t to_ns) { AddSpan(rest, from_ns, to_ns); });
  }
  return rest;
}

int64_t NsOf(const SampledTime& time, const FunctionName& name) {
  for (const SampledFunction& function : time.functions) {
    if (FunctionName{function.file, function.function} == name) return function.ns;
  }
  return 0;
}

// Whether a function is on the stack of several phases: not only at moments between two.
bool IsOfSeveral(const std::array<std::map<FunctionName, int64_t>, kPhases.size()>& on_stack,
                 const FunctionName& name) {
  int64_t most_ns = 0, all_ns = 0;
  for (const auto& of_phase : on_stack) {
    const auto found = of_phase.find(name);
    if (found == of_phase.end()) continue;
    most_ns = std::max(most_ns, found->second);
    all_ns += found->second;
  }
  return double(all_ns - most_ns) > kOtherPhases * double(all_ns);
}

bool IsModel(std::string_view function) {
  const size_t dot = function.rfind('.');
  return (dot == function.npos ? function : function.substr(dot + 1)) == "forward";
}

}  // namespace

HotFunction FindHotFunction(const StepInputs& inputs, const ProcessSteps& steps,
                            const CodeSamples& samples) {
  HotFunction hot;
  if (samples.empty() || steps.thread.IsNone() || steps.steady.empty()) return hot;
  std::vector<bool> steady(steps.steps.size());
  for (const uint32_t step : steps.steady) steady[step] = true;
  std::array<Spans, kPhases.size()> spans;
  VisitPhaseStretches(inputs, steps, [&](const PhaseStretch& stretch) {
    const auto* const phase = std::find(kPhases.begin(), kPhases.end(), stretch.kind);
    if (phase == kPhases.end() || !steady[stretch.step]) return;
    AddSpan(spans[static_cast<size_t>(phase - kPhases.begin())], stretch.start_ns, stretch.end_ns);
  });
  const bool has_gpu = inputs.store.kernels.size() > 0;
  const Spans all = Operators(inputs, steps.thread, 0);
  const Spans work = has_gpu ? all : Operators(inputs, steps.thread, kLongOperatorNs);
  std::array<std::map<FunctionName, int64_t>, kPhases.size()> on_stack;
  for (size_t i = 0; i < kPhases.size(); ++i) {
    on_stack[i] = samples.OnStacks(steps.thread, spans[i]);
  }
  for (size_t i = 0; i < kPhases.size(); ++i) {
    const SampledTime python = samples.During(steps.thread, Without(all, spans[i]));
    for (const SampledFunction& function :
         samples.During(steps.thread, Without(work, spans[i])).functions) {
      const FunctionName name{function.file, function.function};
      if (IsOfSeveral(on_stack, name) || IsModel(function.function) ||
          function.function == "<module>")
        continue;
      if (double(NsOf(python, name)) < kPythonShare * double(function.ns)) continue;
      const double per_step_ns = double(function.ns) / double(steps.steady.size());
      if (per_step_ns > hot.per_step_ns) hot = {kPhases[i], function, per_step_ns};
      break;
    }
  }
  return hot;
}

}  // namespace batchlight
