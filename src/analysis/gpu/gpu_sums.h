// Sums of the GPU's side (gpu_summary.h) for one choice of steps after another.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/gpu/gpu_activity.h"
#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/gpu/gpu_summary.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/launch_steps.h"
#include "analysis/steps/step_clock.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// What is known of kernels, copies and waits whichever steps count. A view that looks at one choice
// of steps after another keeps it: each then costs a look at the step of each piece of work, and
// the pieces in its steady steps.
class GpuSums {
 public:
  // `steps`: those of the loop, whichever count.
  // `launched`: by these. All must outlive this.
  GpuSums(const GpuActivity& gpus, const StepSet& steps, const LaunchSteps& launched,
          const Attribution& work);

  // Of a stretch of time (StepSet::within) all but the breakdowns: GpuStretches has those.
  GpuSummary Of(const StepSet& steps) const;

 private:
  class Choice;

  template <typename Table>
  static double SteadyNs(const Table& table, const std::vector<uint32_t>& steps,
                         const Choice& choice);

  void AddKernels(const Attribution& work);
  void AddCopies();
  void AddWaits(const IntervalIndex& operators, const StepSet& steps);
  void SetKernels(const Choice& choice, const StepClock& clock, GpuSummary& summary) const;
  void SetCopies(const Choice& choice, const StepClock& clock, GpuSummary& summary) const;
  void SetWaits(const Choice& choice, const StepClock& clock, GpuSummary& summary) const;
  void SetShares(const Choice& choice, const StepClock& clock, GpuSummary& summary) const;

  const Store& store_;
  const LaunchSteps& launched_;
  GpuBreakdowns breakdowns_;
  GpuSummary whole_;  // without what is per step
  // Rows of the summary, by piece.
  std::vector<uint32_t> kernel_rows_;
  std::vector<uint32_t> copy_rows_;
  std::vector<uint32_t> wait_rows_;
  std::vector<uint32_t> wait_calls_;  // rows of api_calls
  std::vector<uint32_t> wait_steps_;  // as in LaunchSteps
};

}  // namespace batchlight
