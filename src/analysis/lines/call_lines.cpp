#include "analysis/lines/call_lines.h"

#include <algorithm>

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

// Half of the time from one look to the next: of shorter calls a few would have a stack by chance.
constexpr int64_t kLongNs = 5'000'000;

// `calls`: a table of calls on threads. Fills what is None in `stacks`, by its rows.
template <typename Calls>
void AddLooks(const Store& store, const Calls& calls, std::vector<PythonStackId>& stacks) {
  const PythonSamplesTable& samples = store.python_samples;
  if (samples.size() == 0) return;
  for (size_t row = 0; row < calls.size(); ++row) {
    const int64_t start_ns = calls.start_ns[row], end_ns = calls.end_ns[row];
    if (!stacks[row].IsNone() || end_ns == kOpenEnd || end_ns - start_ns < kLongNs) continue;
    const auto [first, last] =
        std::equal_range(samples.thread.begin(), samples.thread.end(), calls.thread[row]);
    const auto begin = samples.end_ns.begin();
    const auto at = std::partition_point(begin + (first - samples.thread.begin()),
                                         begin + (last - samples.thread.begin()),
                                         [&](int64_t looked_ns) { return looked_ns <= start_ns; });
    const auto sample = static_cast<size_t>(at - begin);
    if (sample == static_cast<size_t>(last - samples.thread.begin())) continue;
    // A row stands for looks that found the same, each at the end of its part.
    const int64_t looks = std::max<int64_t>(samples.samples[sample], 1);
    const int64_t each_ns = (samples.end_ns[sample] - samples.start_ns[sample]) / looks;
    const int64_t earlier =
        each_ns > 0 ? (samples.end_ns[sample] - start_ns - 1) / each_ns : int64_t{0};
    const int64_t looked_ns = samples.end_ns[sample] - each_ns * std::min(earlier, looks - 1);
    if (looked_ns < end_ns) stacks[row] = samples.python_stack[sample];
  }
}

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

std::vector<PythonStackId> PythonStacksOfCallsAndLooks(const Store& store) {
  std::vector<PythonStackId> stacks = PythonStacksOfCalls(store);
  AddLooks(store, store.api_calls, stacks);
  return stacks;
}

std::vector<PythonStackId> PythonStacksOfOsCalls(const Store& store) {
  std::vector<PythonStackId> stacks(store.os_calls.size());
  AddLooks(store, store.os_calls, stacks);
  return stacks;
}

}  // namespace batchlight
