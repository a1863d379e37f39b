#include "analysis/owners/working_threads.h"

namespace batchlight {
namespace {

template <typename Table>
void NoteLaunchers(const Store& store, const Table& work, std::vector<bool>& works) {
  for (const ApiCallId call : work.api_call) {
    if (call.IsNone()) continue;
    const ThreadId thread = store.api_calls.thread[call.row()];
    if (!thread.IsNone()) works[thread.row()] = true;
  }
}

}  // namespace

std::vector<std::vector<ThreadId>> FindWorkingThreads(const Store& store) {
  std::vector<bool> works(store.threads.size());
  NoteLaunchers(store, store.kernels, works);
  NoteLaunchers(store, store.graph_launches, works);
  const OperatorCallsTable& operators = store.operator_calls;
  for (size_t row = 0; row < operators.size(); ++row) {
    if (operators.scope[row] != OperatorScope::kBackward || operators.thread[row].IsNone())
      continue;
    works[operators.thread[row].row()] = true;
  }
  std::vector<std::vector<ThreadId>> of_process(store.processes.size());
  for (size_t row = 0; row < works.size(); ++row) {
    const ProcessId process = store.threads.process[row];
    if (works[row] && !process.IsNone()) {
      of_process[process.row()].push_back(ThreadId::At(row));
    }
  }
  return of_process;
}

}  // namespace batchlight
