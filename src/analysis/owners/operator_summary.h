// Time of operators (ATen operators, autograd functions, record_function ranges) by name, and by
// name and input shapes.
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

struct OperatorRow {
  StringId name;
  StringId shapes;  // None: not recorded, or summed over shapes
  uint64_t calls = 0;
  int64_t total_ns = 0;  // inclusive; a call inside one of the same name counts once
  int64_t self_ns = 0;   // without operators inside
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  int64_t backward_ns = 0;          // of the autograd functions that differentiate these calls
  int64_t self_in_backward_ns = 0;  // part of self_ns that ran inside a backward function
  int64_t gpu_ns = 0;               // work on the GPU that it launched itself
  int64_t gpu_total_ns = 0;         // work that it and the operators inside launched
  // Means over steady steps, of what the step waits for (critical_time.h); 0 without steps.
  double calls_per_step = 0;  // on any thread
  double self_per_step_ns = 0;
  double total_per_step_ns = 0;
  double beside_per_step_ns = 0;       // self on other threads
  double in_backward_per_step_ns = 0;  // part of self_per_step_ns inside a backward function
  double gpu_per_step_ns = 0;          // gpu_ns of steps that launched the work
  double gpu_total_per_step_ns = 0;
  double share_of_step = 0;  // self_per_step / mean step, 0 to 1

  // Of the whole run, whose first calls load libraries and pick kernels.
  double average_ns() const { return calls == 0 ? 0 : double(total_ns) / double(calls); }
};

struct OperatorSummary {
  std::vector<OperatorRow> by_name;   // by falling self time
  std::vector<OperatorRow> by_shape;  // name and shapes; empty if no shapes were recorded
  uint64_t calls = 0;
  int64_t self_ns = 0;  // of all operators
};

// `work`: of the GPU; empty without one.
OperatorSummary SummarizeOperators(const Store& store, const StepSet& steps,
                                   const CriticalTime& critical, const BackwardLinks& links,
                                   const Attribution& work);

}  // namespace batchlight
