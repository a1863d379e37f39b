// The measures of a run that depend on which of its steps are looked at. A view that looks at one
// part after another keeps this: what all parts share is found once.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/breakdown/hidden_loading.h"
#include "analysis/gpu/gpu_sums.h"
#include "analysis/owners/critical_time.h"
#include "analysis/owners/launch_steps.h"
#include "analysis/owners/module_sums.h"
#include "analysis/owners/nvtx_sums.h"
#include "analysis/owners/operator_sums.h"
#include "analysis/roofline/roofline_sums.h"
#include "analysis/run/run_basis.h"
#include "analysis/run/run_measures.h"

namespace batchlight {

enum class StepMeasure : uint8_t {
  kTree,
  kLines,
  kLineMemory,
  kOperators,
  kNvtx,
  kModules,
  kRoofline,
  kGpu,
  kQueues,
  kBreakdowns,
  kLoopWork,
  kForwardParts,
  kCudnnPlans,
  kGradients,  // backward that nobody uses
  kRecordingCost,
  kDistributed,  // needs kGpu; by bins of steps with kTree only
  kCount
};
using StepMeasures = std::bitset<static_cast<size_t>(StepMeasure::kCount)>;

class StepMeasurer {
 public:
  explicit StepMeasurer(const Store& store) : store_(store) {}  // must outlive this
  // `known`: of a part of a run: steps have numbers and kinds by what is known of the rest, which
  // must outlive this. `basis`: its loops are those of the options' range and key.
  StepMeasurer(const Store& store, const StepSet* known, RunBasis basis)
      : store_(store), known_(known), basis_(std::move(basis)) {}

  // Steps, what they were found by and the `wanted` measures. `run` is empty or what this measured
  // before; measures of it that are not wanted may be of other steps.
  void Measure(const StepOptions& options, StepMeasures wanted, RunMeasures& run);
  // The same of a stretch of time, which is the one step of each of these processes; which of
  // their steps count is not looked at. Of the measures those that tables of a part have.
  void MeasureWithin(const StepOptions& options, const TimeSpan& within, StepMeasures wanted,
                     RunMeasures& run);

 private:
  void MeasureWhole(StepMeasures wanted, RunMeasures& run);
  void FindLoopsOf(const StepOptions& options, const StepInputs& inputs);
  void MeasureParts(StepMeasures wanted, RunMeasures& run);
  // What needs several parts.
  void Combine(StepMeasures wanted, RunMeasures& run) const;
  std::vector<StepBreakdown> BreakDown(const StepInputs& inputs, const StepSet& steps);

  void FindGpus();
  GpuSummary SumUpGpu(const StepSet& steps, const Attribution& work);
  void SetHiddenLoading(const StepInputs& inputs, const StepSet& steps, GpuSummary& gpu);

  StepSet Choose(const StepOptions& options, const StepInputs& inputs) const;

  const Store& store_;
  const StepSet* known_ = nullptr;
  RunBasis basis_;           // made where it was not given, when it is first needed
  bool has_owners_ = false;  // the run's links and work are known
  // Whichever of the steps count.
  StepSet all_steps_;  // as they are where none is left out
  CriticalTime critical_;
  std::optional<LaunchSteps> launched_;  // of all steps
  std::optional<GpuSums> gpu_;           // looks at these, and at the basis
  std::optional<HiddenLoading> hidden_loading_;
  std::optional<std::vector<StepBreakdown>> breakdowns_;
  std::optional<StepOptions> loops_of_;
  std::optional<OperatorSums> operators_;
  std::optional<NvtxSums> nvtx_;
  std::optional<ModuleSums> modules_;
  std::optional<RooflineSums> roofline_;
};

}  // namespace batchlight
