// Calls of cuDNN's operators that take far longer than the same operator at its fastest: it plans
// for sizes that it has not seen. What others say of the same time is without these calls.
#pragma once

#include <map>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/run/run_measures.h"

namespace batchlight::advice {

// Of steady steps.
struct CudnnPlans {
  std::vector<StringId> names;                      // of the operators, by falling own time
  double per_step_ns = 0;                           // that planning takes; 0: too little to be told
  double calls_per_step = 0;                        // of these operators
  double slow_per_step = 0;                         // of these, that plan
  std::map<ThreadId, std::vector<TimeSpan>> spans;  // of the latter
};

// Of convolutions, and of attention. (gpu/cudnn_rules.cpp)
CudnnPlans ConvolutionPlans(const RunMeasures& run);
CudnnPlans AttentionPlans(const RunMeasures& run);

// Both, as far as they are told.
class ToldPlans {
 public:
  explicit ToldPlans(const RunMeasures& run);

  double per_step_ns() const { return plans_[0].per_step_ns + plans_[1].per_step_ns; }
  // Whether an operator of this name plans.
  bool Has(StringId name) const;
  bool Holds(ThreadId thread, int64_t time_ns) const;
  // Whether PyTorch gives back its unused memory in each of them, as it does behind the timing of
  // convolutions.
  bool empty_the_cache() const { return empty_the_cache_; }

 private:
  CudnnPlans plans_[2];
  bool empty_the_cache_ = false;
};

// cudaMalloc and cudaFree in the second half of the steady steps; nothing where they are few.
struct Allocations {
  uint64_t count = 0;
  double per_step_ns = 0;
};
// (gpu/transfer_rules.cpp)
Allocations AllocationsOutside(const RunMeasures& run, const ToldPlans& plans);

}  // namespace batchlight::advice
