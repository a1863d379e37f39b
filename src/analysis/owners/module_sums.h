// Sums of modules (module_summary.h) for one choice of steps after another.
#pragma once

#include <memory>

#include "analysis/owners/launch_steps.h"
#include "analysis/owners/module_summary.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// What is known of modules whichever steps count. A view that looks at one choice of steps after
// another keeps it: each then costs what lies in its steady steps, and the GPU's work.
class ModuleSums {
 public:
  // `work`: of the GPU; empty without one. The store must outlive this.
  ModuleSums(const StepInputs& inputs, const BackwardLinks& links, const Attribution& work);
  ~ModuleSums();

  // `links`, `work`: the same. `launched`: by these steps, whichever count.
  ModuleSummary Of(const StepSet& steps, const CriticalTime& critical, const BackwardLinks& links,
                   const LaunchSteps& launched, const Attribution& work) const;

 private:
  class Whole;
  class SteadyPass;

  std::unique_ptr<const Whole> whole_;
};

}  // namespace batchlight
