// What is said of cuDNN's plans (gpu/cudnn_plans.h); what others say of the same time is without.
#pragma once

#include "analysis/gpu/cudnn_plans.h"
#include "analysis/run/run_measures.h"

namespace batchlight::advice {

// nullptr: too little to be told.
class ToldPlans {
 public:
  explicit ToldPlans(const RunMeasures& run);

  const CudnnPlans* convolutions() const { return convolutions_; }
  const CudnnPlans* attention() const { return attention_; }

  double per_step_ns() const;
  // Whether an operator of this name plans.
  bool Has(StringId name) const;
  bool Holds(ThreadId thread, int64_t time_ns) const;
  // Whether algorithms of convolutions are timed. PyTorch then gives back its unused memory behind
  // each of them.
  bool times_algorithms() const { return times_algorithms_; }

 private:
  const CudnnPlans* convolutions_;
  const CudnnPlans* attention_;
  bool times_algorithms_;
};

// cudaMalloc and cudaFree in the second half of the steady steps; nothing where they are few.
struct Allocations {
  uint64_t count = 0;
  double per_step_ns = 0;
};
// (gpu/transfer_rules.cpp)
Allocations AllocationsOutside(const RunMeasures& run, const ToldPlans& plans);

}  // namespace batchlight::advice
