#include "analysis/run/run_measures.h"

#include <cstdint>

#include "analysis/run/step_measurer.h"
#include "analysis/run/steps_alone.h"

namespace batchlight {
namespace {

// As PyTorch has them: of the whole run, unless some of its steps are asked for.
CallCounts CallsThatCount(const Store& store, const StepOptions& options, const StepSet& steps) {
  const bool all =
      options.first_step == 0 && options.last_step == INT64_MAX && options.parts.empty();
  if (all) return {};
  return [times = TimesOfSteps(steps, store)](ThreadId thread, int64_t start_ns, int64_t end_ns) {
    return times.Hold(thread, start_ns, end_ns);
  };
}

}  // namespace

RunMeasures::RunMeasures() = default;
RunMeasures::RunMeasures(RunMeasures&& other) noexcept = default;
RunMeasures& RunMeasures::operator=(RunMeasures&& other) noexcept = default;
RunMeasures::~RunMeasures() = default;

RunMeasures MeasureRun(const Store& store, const MeasureOptions& options) {
  RunMeasures run;
  run.session = DescribeSession(store);
  run.losses = FindLosses(store);
  StepMeasurer(store).Measure(options.steps, StepMeasures().set(), run);
  run.function_averages = std::make_shared<const FunctionAverages>(
      store, CallsThatCount(store, options.steps, run.steps));
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
