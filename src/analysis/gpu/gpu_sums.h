// Sums of the GPU's side (gpu_summary.h) for one choice of steps after another.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/gpu/gpu_summary.h"
#include "analysis/owners/attribution.h"
#include "analysis/steps/step_clock.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// What is known of kernels, copies and waits whichever steps count. A view that looks at one choice
// of steps after another keeps it: each then costs a look at the step of each piece of work, and
// the pieces in its steady steps.
class GpuSums {
 public:
  // `steps`: those of the loop, whichever count. The store must outlive this.
  GpuSums(const StepInputs& inputs, const StepSet& steps, const Attribution& work);

  // Of a stretch of time (StepSet::within) all but the breakdowns: GpuStretches has those.
  GpuSummary Of(const StepSet& steps) const;

 private:
  // Where pieces of one kind belong: by piece.
  struct Pieces {
    std::vector<uint32_t> step;  // that launched it, counted through all processes; or their number
    std::vector<uint32_t> row;   // of the summary; empty: they have none
  };
  class StepOfCall;
  class Choice;

  template <typename Table>
  static std::vector<uint32_t> StepsOf(const Table& table, StepOfCall& step_of_call);
  template <typename Table>
  static double SteadyNs(const Table& table, const Pieces& pieces, const Choice& choice);

  void AddKernels(const Attribution& work);
  void AddCopies();
  void AddWaits(StepOfCall& step_of_call);
  void SetKernels(const Choice& choice, const StepClock& clock, GpuSummary& summary) const;
  void SetCopies(const Choice& choice, const StepClock& clock, GpuSummary& summary) const;
  void SetWaits(const Choice& choice, const StepClock& clock, GpuSummary& summary) const;
  void SetShares(const Choice& choice, const StepClock& clock, GpuSummary& summary) const;

  const Store& store_;
  GpuBreakdowns breakdowns_;
  GpuSummary whole_;  // without what is per step
  Pieces kernels_;
  Pieces copies_;
  Pieces memsets_;
  Pieces graphs_;
  Pieces waits_;
  std::vector<uint32_t> wait_calls_;  // rows of api_calls
};

}  // namespace batchlight
