#include "analysis/steps/step_inputs.h"

namespace batchlight {

StepInputs::StepInputs(const Store& s)
    : store(s),
      marks(s),
      range_rows(s.nvtx_ranges.thread),
      operator_rows(s.operator_calls.thread),
      phase_rows(s.phase_calls.thread),
      ranges(s.nvtx_ranges.thread, s.nvtx_ranges.start_ns, s.nvtx_ranges.end_ns,
             [&s](uint32_t row) {
               const ThreadId end = s.nvtx_ranges.end_thread[row];
               return !end.IsNone() && end != s.nvtx_ranges.thread[row];
             }),
      threads_of_process(s.processes.size()) {
  for (size_t row = 0; row < s.threads.size(); ++row) {
    const ProcessId process = s.threads.process[row];
    if (!process.IsNone()) threads_of_process[process.row()].push_back(ThreadId::At(row));
  }
}

const IntervalIndex& StepInputs::operators() const {
  std::call_once(operators_once_, [this] {
    const OperatorCallsTable& calls = store.operator_calls;
    operators_.emplace(calls.thread, calls.start_ns, calls.end_ns);
  });
  return *operators_;
}

}  // namespace batchlight
