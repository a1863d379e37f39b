#include "analysis/lines/call_lines.h"

#include "analysis/lines/line_parts.h"
#include "analysis/lines/stack_lines.h"

namespace batchlight {
namespace {

// The operators of one thread that are open at a moment that only moves on. Both tables are ordered
// by thread and start.
class OpenOperators {
 public:
  explicit OpenOperators(const Store& store) : calls_(store.operator_calls) {}

  // The stack of the innermost operator around `at_ns` that has one.
  PythonStackId StackAt(ThreadId thread, int64_t at_ns) {
    while (next_ < calls_.size() &&
           (calls_.thread[next_] < thread ||
            (calls_.thread[next_] == thread && calls_.start_ns[next_] <= at_ns))) {
      CloseBefore(calls_.thread[next_], calls_.start_ns[next_]);
      open_.push_back(next_++);
    }
    CloseBefore(thread, at_ns);
    for (size_t i = open_.size(); i-- > 0;) {
      const PythonStackId stack = calls_.python_stack[open_[i]];
      if (!stack.IsNone()) return stack;
    }
    return PythonStackId::None();
  }

 private:
  void CloseBefore(ThreadId thread, int64_t at_ns) {
    while (!open_.empty() &&
           (calls_.thread[open_.back()] != thread || calls_.end_ns[open_.back()] < at_ns)) {
      open_.pop_back();
    }
  }

  const OperatorCallsTable& calls_;
  size_t next_ = 0;
  std::vector<size_t> open_;
};

}  // namespace

std::vector<PythonStackId> PythonStacksOfCalls(const Store& store) {
  const ApiCallsTable& calls = store.api_calls;
  std::vector<PythonStackId> stacks(calls.size());
  if (!HasCallStacks(store)) return stacks;
  const CallStacks own(store);
  OpenOperators operators(store);
  for (size_t row = 0; row < calls.size(); ++row) {
    const PythonStackId around = operators.StackAt(calls.thread[row], calls.start_ns[row]);
    const PythonStackId stack = own.Of(ApiCallId::At(row));
    stacks[row] = stack.IsNone() ? around : stack;
  }
  return stacks;
}

}  // namespace batchlight
