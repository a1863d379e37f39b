// Calls of cuDNN's operators that plan: which kernel computes a convolution or an attention of
// these sizes is looked for when sizes come that it has not seen, and kept. Such a call takes
// milliseconds, another some 100 us.
#pragma once

#include <map>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Of the least time that an operator takes, from which on a call of it plans, and of any call.
inline constexpr double kPlanTimes = 10;
inline constexpr double kPlanLeastNs = 1'000'000;

// Of operators of one kind, per steady step.
struct CudnnPlans {
  std::vector<StringId> names;                      // of the operators, by falling time
  double per_step_ns = 0;                           // beyond what these operators take otherwise
  double calls_per_step = 0;                        // of these operators
  double slow_per_step = 0;                         // of these, that plan
  std::map<ThreadId, std::vector<TimeSpan>> spans;  // of the latter
};

struct PlansOfCudnn {
  CudnnPlans convolutions, attention;
};

// `main`: the process whose steps count, nullptr for none. Nothing where no GPU worked.
PlansOfCudnn FindCudnnPlans(const Store& store, const ProcessSteps* main);

}  // namespace batchlight
