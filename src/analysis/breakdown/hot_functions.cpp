#include "analysis/breakdown/hot_functions.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/breakdown/loop_work.h"
#include "analysis/breakdown/phase_stretches.h"
#include "analysis/gpu/steady_waits.h"
#include "analysis/numbers/time_span.h"
#include "analysis/owners/autograd_numbers.h"

namespace batchlight {
namespace {

constexpr std::array kPhases = {PhaseKind::kForward, PhaseKind::kLoss, PhaseKind::kBackward,
                                PhaseKind::kOptimizer};
using Spans = std::vector<TimeSpan>;
// Of a function's time: less is the price of calling operators that do work.
constexpr double kPythonShare = 0.35;
constexpr double kOtherPhases = 0.1;  // of its time

// A short operator may take long where its thread loses its processor: rarer than this.
constexpr double kRarelyLong = 0.1;

// Put a list of tensors into one: however long they take, they compute nothing, and a program that
// keeps its rows in one tensor needs none of it.
constexpr std::array<std::string_view, 4> kPutTogether = {"aten::stack", "aten::vstack",
                                                          "aten::hstack", "aten::pad_sequence"};

// Operators of the thread that runs the steps, without those that only put tensors together.
class StepOperators {
 public:
  StepOperators(const StepInputs& inputs, ThreadId thread)
      : calls_(inputs.store.operator_calls), store_(inputs.store) {
    const ThreadSpans::Rows rows = inputs.operator_rows.Of(thread);
    int64_t together_until_ns = std::numeric_limits<int64_t>::min();
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      if (calls_.end_ns[row] == kOpenEnd) continue;
      const std::string_view name = store_.Text(calls_.name[row]);
      if (!name.starts_with("aten::") || calls_.start_ns[row] < together_until_ns) continue;
      if (std::find(kPutTogether.begin(), kPutTogether.end(), name) != kPutTogether.end()) {
        together_until_ns = calls_.end_ns[row];
        continue;
      }
      rows_.push_back(row);
      Kind& kind = kinds_[calls_.name[row]];
      ++kind.calls;
      kind.long_calls += IsLong(row);
    }
  }
  Spans All() const {
    Spans spans;
    for (const uint32_t row : rows_) AddSpan(spans, calls_.start_ns[row], calls_.end_ns[row]);
    return spans;
  }
  // Those that autograd follows, which are the model; all where it is not known.
  Spans Followed() const {
    Spans spans;
    for (const uint32_t row : rows_) {
      if (IsFollowed(store_, row)) AddSpan(spans, calls_.start_ns[row], calls_.end_ns[row]);
    }
    return spans.empty() ? All() : spans;
  }
  // Those that do work: that take long, and not by accident.
  Spans Long() const {
    Spans spans;
    for (const uint32_t row : rows_) {
      const Kind& kind = kinds_.at(calls_.name[row]);
      if (!IsLong(row) || double(kind.long_calls) < kRarelyLong * double(kind.calls)) continue;
      AddSpan(spans, calls_.start_ns[row], calls_.end_ns[row]);
    }
    return spans;
  }

 private:
  struct Kind {
    uint64_t calls = 0, long_calls = 0;
  };
  bool IsLong(uint32_t row) const {
    return calls_.end_ns[row] - calls_.start_ns[row] >= kLongOperatorNs;
  }

  const OperatorCallsTable& calls_;
  const Store& store_;
  std::vector<uint32_t> rows_;
  std::map<StringId, Kind> kinds_;  // by name
};

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

// How much of the time that the thread waits for the GPU in steady steps it is in the function.
double ShareOfWaits(const StepInputs& inputs, const ProcessSteps& steps, const CodeSamples& samples,
                    const SampledFunction& function) {
  const SampledTime sampled =
      samples.InsideModules(steps.thread, WaitsInSteadySteps(inputs.store, steps));
  return double(NsOf(sampled, {function.file, function.function})) /
         double(std::max<int64_t>(1, sampled.all_ns));
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
  const StepOperators operators(inputs, steps.thread);
  const Spans all = operators.All();
  const Spans model = has_gpu ? operators.Followed() : Spans{};
  const Spans dear = has_gpu ? Spans{} : operators.Long();
  std::array<std::map<FunctionName, int64_t>, kPhases.size()> on_stack;
  for (size_t i = 0; i < kPhases.size(); ++i) {
    on_stack[i] = samples.OnStacks(steps.thread, spans[i]);
  }
  for (size_t i = 0; i < kPhases.size(); ++i) {
    const bool follows = kPhases[i] == PhaseKind::kForward || kPhases[i] == PhaseKind::kLoss;
    const Spans& work = !has_gpu ? dear : follows ? model : all;
    const Spans& outside_python = has_gpu ? work : all;
    const SampledTime python =
        samples.InsideModules(steps.thread, Without(outside_python, spans[i]));
    for (const SampledFunction& function :
         samples.InsideModules(steps.thread, Without(work, spans[i])).functions) {
      const FunctionName name{function.file, function.function};
      if (IsOfSeveral(on_stack, name) || IsForward(function.function) ||
          function.function == "<module>")
        continue;
      if (double(NsOf(python, name)) < kPythonShare * double(function.ns)) continue;
      const double per_step_ns = double(function.ns) / double(steps.steady.size());
      if (per_step_ns > hot.per_step_ns) {
        hot = {.phase = kPhases[i], .function = function, .per_step_ns = per_step_ns};
      }
      break;
    }
  }
  if (has_gpu && hot.per_step_ns > 0 && hot.phase != PhaseKind::kBackward) {
    hot.gpu_waits = ShareOfWaits(inputs, steps, samples, hot.function);
  }
  return hot;
}

}  // namespace batchlight
