#include "analysis/phases/unlearned_calls.h"

#include <algorithm>
#include <cstddef>

namespace batchlight {
namespace {

// Of the calls that stand right before a backward: where it comes back to fewer, a call to which it
// does not come back says nothing.
constexpr double kLeastLearned = 0.9;
constexpr size_t kFewestLearned = 3;

// The operators of a thread that have numbers of the forward's count.
struct Numbered {
  std::vector<int64_t> start_ns, number;

  size_t From(int64_t time_ns) const {
    return static_cast<size_t>(std::lower_bound(start_ns.begin(), start_ns.end(), time_ns) -
                               start_ns.begin());
  }
};

enum class Use : uint8_t { kUnknown, kLearned, kUnlearned };

}  // namespace

UnlearnedCalls::UnlearnedCalls(const Store& store)
    : store_(store), backward_(store.processes.size()) {
  const OperatorCallsTable& calls = store.operator_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.sequence[row] < 0 || calls.scope[row] != OperatorScope::kBackward) continue;
    const ProcessId process = store.ProcessOf(calls.thread[row]);
    if (!process.IsNone()) backward_[process.row()].push_back(calls.sequence[row]);
  }
  for (std::vector<int64_t>& numbers : backward_) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
}

void UnlearnedCalls::Mark(ThreadSpans::Rows operator_rows, std::vector<LoopEvent>& events) const {
  const OperatorCallsTable& calls = store_.operator_calls;
  if (operator_rows.empty()) return;
  const ProcessId process = store_.ProcessOf(calls.thread[operator_rows.begin]);
  if (process.IsNone() || backward_[process.row()].empty()) return;
  const std::vector<int64_t>& backward = backward_[process.row()];
  Numbered operators;
  for (uint32_t row = operator_rows.begin; row < operator_rows.end; ++row) {
    if (calls.sequence[row] < 0 || calls.scope[row] != OperatorScope::kFunction) continue;
    operators.start_ns.push_back(calls.start_ns[row]);
    operators.number.push_back(calls.sequence[row]);
  }
  // Each node of the graph takes a number: those from its first operator's to that behind it are
  // the call's.
  const auto use_of = [&](const LoopEvent& call) {
    const size_t from = operators.From(call.start_ns), to = operators.From(call.end_ns);
    if (from == to) return Use::kUnknown;
    const int64_t first = operators.number[from];
    const int64_t end =
        to < operators.number.size() ? operators.number[to] : operators.number[to - 1];
    if (end <= first) return Use::kUnknown;  // without gradients, or numbers of another thread
    const auto used = std::lower_bound(backward.begin(), backward.end(), first);
    return used != backward.end() && *used < end ? Use::kLearned : Use::kUnlearned;
  };
  std::vector<Use> uses(events.size(), Use::kUnknown);
  size_t learned = 0, before_backward = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != LoopEventKind::kCall || events[i].no_grad) continue;
    uses[i] = use_of(events[i]);
    const bool is_last = i + 1 < events.size() && events[i + 1].kind == LoopEventKind::kBackward;
    if (!is_last || uses[i] == Use::kUnknown) continue;
    ++before_backward;
    learned += uses[i] == Use::kLearned;
  }
  if (learned < kFewestLearned || double(learned) < kLeastLearned * double(before_backward)) return;
  for (size_t i = 0; i < events.size(); ++i) events[i].unlearned = uses[i] == Use::kUnlearned;
}

}  // namespace batchlight
