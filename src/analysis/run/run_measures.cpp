#include "analysis/run/run_measures.h"

#include "analysis/run/step_measurer.h"

namespace batchlight {

RunMeasures::RunMeasures() = default;
RunMeasures::RunMeasures(RunMeasures&& other) noexcept = default;
RunMeasures& RunMeasures::operator=(RunMeasures&& other) noexcept = default;
RunMeasures::~RunMeasures() = default;

RunMeasures MeasureRun(const Store& store, const MeasureOptions& options) {
  RunMeasures run;
  run.session = DescribeSession(store);
  run.losses = FindLosses(store);
  run.function_averages = std::make_shared<const FunctionAverages>(store);
  StepMeasurer(store).Measure(options.steps, StepMeasures().set(), run);
  run.stages = FindStages(*run.inputs, run.steps);
  run.measured_overhead = ReadMeasuredOverhead(store, run.steps);
  if (options.phase_events) run.phase_events = PhaseEventsOf(run);
  return run;
}

std::shared_ptr<const PhaseEvents> PhaseEventsOf(const RunMeasures& run) {
  if (run.phase_events != nullptr) return run.phase_events;
  return std::make_shared<const PhaseEvents>(
      FindPhaseEvents(*run.inputs, run.steps, run.breakdowns, run.gpu.breakdowns, run.work));
}

}  // namespace batchlight
