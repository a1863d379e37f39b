#include "analysis/owners/autograd_numbers.h"

#include <string_view>

namespace batchlight {

// A backward function has the number of its forward operator.
bool HasOwnNumber(const OperatorCallsTable& operators, size_t row) {
  return operators.sequence[row] >= 0 && operators.scope[row] == OperatorScope::kFunction;
}

bool IsCast(const Store& store, size_t row) {
  const std::string_view name = store.Text(store.operator_calls.name[row]);
  return name == "aten::to" || name == "aten::_to_copy";
}

bool IsFollowed(const Store& store, uint32_t row) {
  const OperatorCallsTable& operators = store.operator_calls;
  const int64_t sequence = operators.sequence[row];
  if (sequence < 0) return false;
  const ThreadId thread = operators.thread[row];
  const int64_t end_ns = operators.end_ns[row];
  for (size_t next = row + 1; next < operators.size() && operators.thread[next] == thread; ++next) {
    if (operators.start_ns[next] >= end_ns && HasOwnNumber(operators, next))
      return operators.sequence[next] != sequence;
  }
  return false;
}

}  // namespace batchlight
