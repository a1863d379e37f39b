#include "analysis/phases/loop_events.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/merge_runs.h"

namespace batchlight {
namespace {

std::optional<LoopEventKind> KindOfMark(const PhaseMark& mark) {
  switch (mark.kind) {
    case PhaseKind::kForward:
    case PhaseKind::kLoss:
      if (!mark.implied) return {};
      return LoopEventKind::kCall;
    case PhaseKind::kBackward:
      return LoopEventKind::kBackward;
    case PhaseKind::kOptimizer:
      return LoopEventKind::kOptimizer;
    case PhaseKind::kDataLoading:
      return mark.loader_start ? LoopEventKind::kLoaderStart : LoopEventKind::kLoaderNext;
    case PhaseKind::kCheckpoint:
      return LoopEventKind::kCheckpoint;
    default:
      return {};
  }
}

// Inside of these nothing is an event of its own.
bool Hides(const PhaseMark& mark) {
  return mark.kind == PhaseKind::kBackward || mark.kind == PhaseKind::kOptimizer ||
         (IsEvaluation(mark.kind) && !mark.implied);
}

// Says of each call whether it ran in eval mode or with gradients off.
void AddModes(const Store& store, ThreadSpans::Rows phase_rows, std::vector<LoopEvent>& events) {
  const PhaseCallsTable& phases = store.phase_calls;
  size_t next = 0;
  for (uint32_t row = phase_rows.begin; row < phase_rows.end; ++row) {
    if (phases.phase[row] != Phase::kEvaluationCall) continue;
    const int64_t start_ns = phases.start_ns[row];
    // The phase begins right after the call that it is of.
    while (next < events.size() && events[next].start_ns <= start_ns) ++next;
    for (size_t i = next; i-- > 0;) {
      LoopEvent& event = events[i];
      if (event.kind != LoopEventKind::kCall) continue;
      if (event.end_ns < start_ns) break;
      const std::string_view name = store.Text(phases.name[row]);
      event.eval_mode = name.starts_with("eval");
      event.no_grad = name.ends_with("no_grad");
      break;
    }
  }
}

void AddModeChanges(const Store& store, ThreadSpans::Rows phase_rows,
                    std::vector<LoopEvent>& events) {
  const PhaseCallsTable& phases = store.phase_calls;
  for (uint32_t row = phase_rows.begin; row < phase_rows.end; ++row) {
    const bool train = phases.phase[row] == Phase::kTrainMode;
    if (!train && phases.phase[row] != Phase::kEvalMode) continue;
    const int64_t start_ns = phases.start_ns[row];
    events.push_back({.start_ns = start_ns,
                      .end_ns = ClosedEnd(store, start_ns, phases.end_ns[row]),
                      .kind = train ? LoopEventKind::kTrainMode : LoopEventKind::kEvalMode});
  }
}

// `mark` is hidden by the last event.
void NoteClosure(const PhaseMark& mark, LoopEvents& loop) {
  if (loop.rows.empty() || loop.rows.back().kind != LoopEventKind::kOptimizer) return;
  if (mark.start_ns >= loop.rows.back().end_ns) return;
  if (mark.kind == PhaseKind::kBackward) loop.rows.back().closure = true;
  if (mark.kind == PhaseKind::kForward && mark.implied) loop.in_closures.push_back(mark.name);
}

// What a gradient scaler does besides the step updates nothing.
bool IsScalersOwn(std::string_view name) {
  return name.starts_with("GradScaler.") && name != "GradScaler.step";
}

// "aten::cross_entropy_loss", "aten::mse_loss", "aten::kl_div"
bool ComputesLoss(std::string_view op) {
  return op.find("loss") != op.npos || op.find("cross_entropy") != op.npos ||
         op.find("kl_div") != op.npos;
}

enum class Number : uint8_t { kOther, kLoss, kSum, kPassesOn, kRead };

// What an operator has to do with a number that tells how good the model is.
Number NumberOf(std::string_view op) {
  if (ComputesLoss(op)) return Number::kLoss;
  if (!op.starts_with("aten::")) return Number::kOther;
  op.remove_prefix(6);
  for (const std::string_view sum : {"mean", "sum", "norm", "linalg_vector_norm", "nanmean"}) {
    if (op == sum) return Number::kSum;
  }
  for (const std::string_view pass :
       {"to", "_to_copy", "copy_", "empty_strided", "div", "detach"}) {
    if (op == pass) return Number::kPassesOn;
  }
  return op == "item" || op == "_local_scalar_dense" ? Number::kRead : Number::kOther;
}

void AddNumbers(const Store& store, ThreadSpans::Rows operator_rows, LoopEvents& loop) {
  const OperatorCallsTable& calls = store.operator_calls;
  std::unordered_map<uint32_t, Number> known;  // by StringId of the name
  bool is_sum = false;
  int64_t inside_until_ns = INT64_MIN;  // of what sums up
  for (uint32_t row = operator_rows.begin; row < operator_rows.end; ++row) {
    const auto [name, added] = known.try_emplace(calls.name[row].value, Number::kOther);
    if (added) name->second = NumberOf(store.Text(calls.name[row]));
    const int64_t start_ns = calls.start_ns[row];
    switch (name->second) {
      case Number::kLoss:
        loop.losses.push_back(start_ns);
        [[fallthrough]];
      case Number::kSum:
        is_sum = true;
        inside_until_ns = std::max(inside_until_ns, ClosedEnd(store, start_ns, calls.end_ns[row]));
        break;
      case Number::kRead:
        if (is_sum) loop.metrics.push_back(start_ns);
        break;
      case Number::kPassesOn:
        break;
      case Number::kOther:
        is_sum = is_sum && start_ns < inside_until_ns;
    }
  }
}

}  // namespace

LoopEvents CollectLoopEvents(const Store& store, const std::vector<PhaseMark>& marks,
                             ThreadSpans::Rows mark_rows, ThreadSpans::Rows phase_rows,
                             ThreadSpans::Rows operator_rows) {
  LoopEvents loop;
  AddNumbers(store, operator_rows, loop);
  std::vector<LoopEvent>& events = loop.rows;
  int64_t hidden_until_ns = INT64_MIN, loads_until_ns = INT64_MIN;
  for (uint32_t row = mark_rows.begin; row < mark_rows.end; ++row) {
    const PhaseMark& mark = marks[row];
    if (mark.start_ns < hidden_until_ns) {
      NoteClosure(mark, loop);
      continue;
    }
    if (Hides(mark)) hidden_until_ns = mark.end_ns;
    const std::optional<LoopEventKind> kind = KindOfMark(mark);
    if (!kind || (kind == LoopEventKind::kOptimizer && IsScalersOwn(store.Text(mark.name)))) {
      continue;
    }
    if (kind == LoopEventKind::kLoaderNext) {
      if (mark.start_ns < loads_until_ns) continue;  // Lightning has a range around it
      loads_until_ns = mark.end_ns;
    }
    events.push_back(
        {.start_ns = mark.start_ns, .end_ns = mark.end_ns, .kind = *kind, .path = mark.name});
  }
  AddModes(store, phase_rows, events);
  AddModeChanges(store, phase_rows, events);
  MergeRuns(events, [](const LoopEvent& a, const LoopEvent& b) { return a.start_ns < b.start_ns; });
  bool worked = false;
  for (LoopEvent& event : events) {
    event.step = loop.steps;
    const bool updates = event.kind == LoopEventKind::kOptimizer;
    if (updates && (worked || event.closure || loop.steps == 0)) ++loop.steps;
    worked = !updates && (worked || event.kind == LoopEventKind::kCall ||
                          event.kind == LoopEventKind::kBackward);
  }
  return loop;
}

}  // namespace batchlight
