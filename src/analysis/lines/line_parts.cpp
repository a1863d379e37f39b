#include "analysis/lines/line_parts.h"

#include <algorithm>

#include "analysis/numbers/closed_end.h"
#include "analysis/owners/backward_links.h"
#include "analysis/owners/engine_call.h"

namespace batchlight {

LineFinder::LineFinder(const Store& store, const BackwardLinks& links, const StackLines& lines)
    : store_(store), lines_(lines) {
  const OperatorCallsTable& calls = store.operator_calls;
  forward_of_.resize(calls.size());
  is_backward_.resize(calls.size());
  in_backward_.resize(calls.size());
  has_own_part_.resize(calls.size());
  for (const BackwardLink& link : links.links()) forward_of_[link.backward.row()] = link.forward;
  // Rows come after those around them.
  std::vector<uint8_t> is_inside(calls.size());  // an operator, not only a range of the user's
  for (size_t row = 0; row < calls.size(); ++row) {
    const OperatorCallId parent = calls.parent[row];
    const bool has_parent = !parent.IsNone() && parent.row() < row;
    const bool is_range = calls.scope[row] == OperatorScope::kUser;
    const bool inside = has_parent && is_inside[parent.row()] != 0;
    is_backward_[row] = calls.scope[row] == OperatorScope::kBackward ||
                        store.Text(calls.name[row]).starts_with(kEngineCall);
    in_backward_[row] = is_backward_[row] != 0 || (has_parent && in_backward_[parent.row()] != 0);
    is_inside[row] = inside || !is_range;
    has_own_part_[row] =
        !is_range && (!inside || !calls.python_stack[row].IsNone() || !forward_of_[row].IsNone());
  }
}

PythonStackId LineFinder::StackOf(OperatorCallId call) const {
  const OperatorCallsTable& calls = store_.operator_calls;
  for (; !call.IsNone(); call = calls.parent[call.row()]) {
    if (!calls.python_stack[call.row()].IsNone()) return calls.python_stack[call.row()];
  }
  return {};
}

LinePart LineFinder::OfStack(PythonStackId stack) const {
  if (stack.IsNone() || lines_.Of(stack).frame.IsNone()) return {};
  const bool optimizes = lines_.Of(stack).optimizes;
  return {.kind = optimizes ? LineKind::kOptimizer : LineKind::kLine, .stack = stack};
}

LinePart LineFinder::OfPythonInBackward(OperatorCallId around, PythonStackId stack) const {
  if (lines_.Of(stack).recomputes) {
    return {.kind = LineKind::kLine, .side = LineSide::kRecompute, .stack = stack};
  }
  // A function of the user's own that is differentiated, by its own backward.
  const OperatorCallsTable& calls = store_.operator_calls;
  for (; !around.IsNone(); around = calls.parent[around.row()]) {
    const OperatorCallId forward = forward_of_[around.row()];
    if (forward.IsNone()) continue;
    LinePart part = OfStack(StackOf(forward));
    part.side = LineSide::kBackward;
    return part;
  }
  return {.kind = LineKind::kHook, .side = LineSide::kBackward, .stack = stack};
}

LinePart LineFinder::InBackward(OperatorCallId call, PythonStackId called) const {
  if (!called.IsNone()) return OfPythonInBackward(call, called);
  const OperatorCallsTable& calls = store_.operator_calls;
  PythonStackId caller;  // of the outermost: who called backward()
  for (; !call.IsNone() && in_backward_[call.row()] != 0; call = calls.parent[call.row()]) {
    const size_t row = call.row();
    if (!forward_of_[row].IsNone()) {
      LinePart part = OfStack(StackOf(forward_of_[row]));
      part.side = LineSide::kBackward;
      return part;
    }
    const PythonStackId stack = calls.python_stack[row];
    if (!stack.IsNone() && is_backward_[row] == 0) return OfPythonInBackward(call, stack);
    caller = stack;
  }
  return {.kind = LineKind::kBackward, .side = LineSide::kBackward, .stack = caller};
}

LinePart LineFinder::OfOperator(OperatorCallId call) const {
  if (in_backward_[call.row()] != 0) return InBackward(call, {});
  return OfStack(StackOf(call));
}

LinePart LineFinder::OfWork(const WorkOwner& owner, PythonStackId called) const {
  if (!owner.op.IsNone() && in_backward_[owner.op.row()] != 0) {
    return InBackward(owner.op, called);
  }
  if (!called.IsNone()) return OfStack(called);
  if (!owner.op.IsNone()) return OfStack(StackOf(owner.op));
  if (owner.backward) return {.kind = LineKind::kBackward, .side = LineSide::kBackward};
  return {};
}

std::vector<int64_t> OwnTimes(const Store& store, const LineFinder& finder) {
  const OperatorCallsTable& calls = store.operator_calls;
  std::vector<int64_t> own(calls.size());
  for (uint32_t row = 0; row < calls.size(); ++row) {
    if (!finder.HasOwnPart(row)) continue;
    const int64_t ns =
        ClosedEnd(store, calls.start_ns[row], calls.end_ns[row]) - calls.start_ns[row];
    own[row] += ns;
    OperatorCallId around = calls.parent[row];
    while (!around.IsNone() && !finder.HasOwnPart(around.value))
      around = calls.parent[around.row()];
    if (!around.IsNone()) own[around.row()] -= ns;
  }
  return own;
}

CallStacks::CallStacks(const Store& store) {
  const CudaCallStacksTable& table = store.cuda_call_stacks;
  for (size_t row = 0; row < table.size(); ++row) {
    if (!table.api_call[row].IsNone()) {
      stacks_.try_emplace(table.api_call[row].value, table.python_stack[row]);
    }
  }
}

PythonStackId CallStacks::Of(ApiCallId call) const {
  const auto found = call.IsNone() ? stacks_.end() : stacks_.find(call.value);
  return found == stacks_.end() ? PythonStackId() : found->second;
}

}  // namespace batchlight
