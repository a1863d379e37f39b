// Time of nn.Modules: a tree of module paths, forward time measured, backward time through the
// operators' autograd sequence numbers (analysis/owners/backward_links.h). A forward that a
// backward function runs again (activation checkpointing) is neither: it is recompute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class BackwardLinks;
class CriticalTime;
struct Attribution;

struct ModuleRow {
  std::string path;        // encoder.layers.0.linear1; class name for a root
  std::string class_name;  // Linear
  int32_t parent = -1;     // row of the module that calls it
  int32_t depth = 0;
  uint64_t calls = 0;
  int64_t total_ns = 0;           // forward, inclusive; nested calls of the same path count once
  int64_t self_ns = 0;            // forward without the modules it calls
  int64_t backward_ns = 0;        // CPU time of the backward of its operators, inclusive
  int64_t backward_self_ns = 0;   // of the operators it calls itself
  uint64_t recomputed_calls = 0;  // not in `calls`
  int64_t recompute_ns = 0;       // forward inside of a backward function, inclusive
  int64_t recompute_self_ns = 0;
  int64_t gpu_ns = 0;  // work on the GPU that its forward launched, inclusive
  int64_t gpu_backward_ns = 0;
  int64_t gpu_recompute_ns = 0;
  // Means over steady steps, of what the step waits for (critical_time.h); 0 without steps.
  double calls_per_step = 0;
  double total_per_step_ns = 0;
  double self_per_step_ns = 0;
  double backward_per_step_ns = 0;
  double backward_self_per_step_ns = 0;
  double recompute_per_step_ns = 0;
  double recompute_self_per_step_ns = 0;
  double beside_per_step_ns = 0;  // forward and backward on other threads, self
  double gpu_per_step_ns = 0;     // of steps that launched the work
  double gpu_backward_per_step_ns = 0;
  double gpu_recompute_per_step_ns = 0;
  double share_of_step = 0;  // (total + backward + recompute) per step / mean step, 0 to 1
  double own_share = 0;      // the same of what is self

  int64_t own_ns() const { return self_ns + backward_self_ns + recompute_self_ns; }
  double own_per_step_ns() const {
    return self_per_step_ns + backward_self_per_step_ns + recompute_self_per_step_ns;
  }
};

struct ModuleSummary {
  std::vector<ModuleRow> rows;  // parents before children, siblings in order of first call
  bool has_backward = false;    // operators with sequence numbers were recorded
  bool has_recompute = false;   // a backward function called a module
};

// `work`: of the GPU; empty without one.
ModuleSummary SummarizeModules(const Store& store, const StepSet& steps,
                               const CriticalTime& critical, const BackwardLinks& links,
                               const Attribution& work);

// Where the time goes: rows with own time, recompute and backward included, by falling sum; of the
// steady steps, or of the whole run.
std::vector<uint32_t> ModulesBySelfTime(const ModuleSummary& summary, bool per_step);

}  // namespace batchlight
