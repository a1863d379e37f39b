// The step that launched each piece of the GPU's work, whichever steps count: who looks at one
// choice of steps after another asks this once.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/step_lookup.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Steps are counted through all processes. Asked in order of (thread, time) it seeks cheaply, so
// that launches of one thread, which come almost in order, cost little.
class StepOfCall {
 public:
  StepOfCall(const Store& store, const StepSet& steps);  // must outlive this

  // The step in which the call began; their number: it is not known, or lies in none.
  uint32_t At(ApiCallId call) {
    if (call.IsNone()) return count_;
    const size_t row = call.row();
    if (const ThreadId thread = store_.api_calls.thread[row]; thread != thread_) Seek(thread);
    const size_t step = lookup_.RowAt(store_.api_calls.start_ns[row]);
    return step == StepLookup::kNone ? count_ : first_ + static_cast<uint32_t>(step);
  }

 private:
  void Seek(ThreadId thread);

  const Store& store_;
  const StepSet& steps_;
  std::vector<uint32_t> firsts_;  // by process: its first step
  uint32_t count_ = 0;
  ThreadId thread_;
  const ProcessSteps* process_ = nullptr;  // that the lookup is about
  StepLookup lookup_;
  uint32_t first_ = 0;
};

// By row of the store's tables.
struct LaunchSteps {
  LaunchSteps(const Store& store, const StepSet& steps);

  std::vector<uint32_t> kernels;
  std::vector<uint32_t> memcpys;
  std::vector<uint32_t> memsets;
  std::vector<uint32_t> graph_launches;
};

// By step, counted through all processes, whether it counts; and at last for what is in none.
std::vector<char> SteadySteps(const StepSet& steps);

}  // namespace batchlight
