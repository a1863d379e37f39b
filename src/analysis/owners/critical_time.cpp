#include "analysis/owners/critical_time.h"

#include <algorithm>

#include "analysis/numbers/closed_end.h"
#include "analysis/owners/working_threads.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

std::vector<TimeSpan> Without(const std::vector<TimeSpan>& spans,
                              const std::vector<TimeSpan>& taken) {
  std::vector<TimeSpan> left;
  for (const TimeSpan& span : spans) {
    VisitGaps(taken, span.start_ns, span.end_ns,
              [&](int64_t from_ns, int64_t to_ns) { AddSpan(left, from_ns, to_ns); });
  }
  return left;
}

std::vector<TimeSpan> InBoth(const std::vector<TimeSpan>& a, const std::vector<TimeSpan>& b) {
  return Without(a, Without(a, b));
}

// When the thread is in an operator; ranges of the user are none.
std::vector<TimeSpan> InOperators(const Store& store, ThreadId thread) {
  const OperatorCallsTable& calls = store.operator_calls;
  const ThreadSpans::Rows rows = ThreadSpans(calls.thread).Of(thread);
  std::vector<TimeSpan> spans;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (calls.scope[row] == OperatorScope::kUser) continue;
    AddSpan(spans, calls.start_ns[row], ClosedEnd(store, calls.start_ns[row], calls.end_ns[row]));
  }
  return spans;
}

std::vector<TimeSpan> InBackward(const PhaseMarks& marks, ThreadId thread) {
  const ThreadSpans::Rows rows = marks.RowsOf(thread);
  std::vector<TimeSpan> spans;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = marks.all()[row];
    if (mark.kind == PhaseKind::kBackward) AddSpan(spans, mark.start_ns, mark.end_ns);
  }
  return spans;
}

// The thread of the steps; where these come from kernels, the one that makes most CUDA calls.
ThreadId ThreadOf(const Store& store, const ProcessSteps& steps) {
  if (!steps.thread.IsNone()) return steps.thread;
  const ThreadSpans calls(store.api_calls.thread);
  ThreadId most;
  for (size_t row = 0; row < store.threads.size(); ++row) {
    const ThreadId thread = ThreadId::At(row);
    if (store.threads.process[row] != steps.process) continue;
    if (most.IsNone() || calls.Of(thread).size() > calls.Of(most).size()) most = thread;
  }
  return most;
}

}  // namespace

CriticalTime::CriticalTime(const Store& store, const StepSet& steps, const PhaseMarks& marks) {
  if (steps.processes.empty()) return;
  shares_.resize(store.threads.size());
  const std::vector<std::vector<ThreadId>> working = FindWorkingThreads(store);
  for (const ProcessSteps& process : steps.processes) {
    const ThreadId main = ThreadOf(store, process);
    if (!main.IsNone()) Divide(store, marks, main, working[process.process.row()]);
  }
}

void CriticalTime::Divide(const Store& store, const PhaseMarks& marks, ThreadId main,
                          const std::vector<ThreadId>& working) {
  Share& own = shares_[main.row()];
  own.runs_steps = true;
  const auto is_another = [&](ThreadId thread) { return thread != main; };
  if (std::none_of(working.begin(), working.end(), is_another)) return;
  std::vector<TimeSpan> waits = Without(InBackward(marks, main), InOperators(store, main));
  for (const ThreadId thread : working) {
    if (thread == main || waits.empty()) continue;
    shares_[thread.row()].spans = InBoth(waits, InOperators(store, thread));
    waits = Without(waits, shares_[thread.row()].spans);
    own.spans = UniteSpans(own.spans, shares_[thread.row()].spans);
  }
}

}  // namespace batchlight
