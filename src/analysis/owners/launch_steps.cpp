#include "analysis/owners/launch_steps.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace batchlight {

StepOfCall::StepOfCall(const Store& store, const StepSet& steps) : store_(store), steps_(steps) {
  for (const ProcessSteps& process : steps.processes) {
    firsts_.push_back(count_);
    count_ += static_cast<uint32_t>(process.steps.size());
  }
}

void StepOfCall::Seek(ThreadId thread) {
  thread_ = thread;
  const ProcessSteps* process = steps_.Of(store_.ProcessOf(thread));
  // Threads that take turns are at about the same time.
  if (process == process_) return;
  process_ = process;
  lookup_ = StepLookup(process);
  if (process != nullptr) first_ = firsts_[static_cast<size_t>(process - steps_.Main())];
}

LaunchSteps::LaunchSteps(const Store& store, const StepSet& steps) {
  const auto find = [&](const auto& table, std::vector<uint32_t>& found) {
    constexpr size_t kBatch = 1 << 16;
    found.resize(table.size());
    ParallelFor((found.size() + kBatch - 1) / kBatch, [&](size_t batch) {
      StepOfCall step_of_call(store, steps);
      const size_t end = std::min(found.size(), (batch + 1) * kBatch);
      for (size_t row = batch * kBatch; row < end; ++row) {
        found[row] = step_of_call.At(table.api_call[row]);
      }
    });
  };
  find(store.kernels, kernels);
  find(store.memcpys, memcpys);
  find(store.memsets, memsets);
  find(store.graph_launches, graph_launches);
}

std::vector<char> SteadySteps(const StepSet& steps) {
  std::vector<char> is_steady;
  for (const ProcessSteps& process : steps.processes) {
    const size_t first = is_steady.size();
    is_steady.resize(first + process.steps.size(), 0);
    for (const uint32_t row : process.steady) is_steady[first + row] = 1;
  }
  is_steady.push_back(0);
  return is_steady;
}

}  // namespace batchlight
