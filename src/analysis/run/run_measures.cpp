#include "analysis/run/run_measures.h"

#include <algorithm>
#include <functional>

#include "analysis/owners/critical_time.h"
#include "analysis/steps/step_bins.h"
#include "base/thread_pool.h"

namespace batchlight {
namespace {

// Mean wait for data of a step on the CPU, ns.
double LoadingNs(const StepBreakdown& breakdown) {
  double mean_ns = 0;
  for (const PhaseShare& phase : breakdown.phases) {
    if (phase.kind == PhaseKind::kDataLoading) mean_ns += phase.steady.mean;
  }
  return mean_ns;
}

void FindHiddenLoading(RunMeasures& run) {
  for (GpuBreakdown& gpu : run.gpu.breakdowns) {
    for (size_t i = 0; i < run.breakdowns.size(); ++i) {
      if (run.steps.processes[i].process != gpu.process) continue;
      const double exposed_ns = gpu.steady[static_cast<size_t>(GpuPart::kIdleDataLoading)].mean;
      gpu.hidden_loading_ns = std::max(0.0, LoadingNs(run.breakdowns[i]) - exposed_ns);
    }
  }
}

}  // namespace

RunMeasures MeasureRun(const Store& store, const MeasureOptions& options) {
  RunMeasures run;
  run.store = &store;
  run.session = DescribeSession(store);
  run.losses = FindLosses(store);
  run.inputs = std::make_shared<const StepInputs>(store);
  const StepInputs& inputs = *run.inputs;
  run.steps = FindSteps(inputs, options.steps);
  const StepSet& steps = run.steps;
  run.stages = FindStages(inputs, steps);
  run.measured_overhead = ReadMeasuredOverhead(store, steps);
  run.links = BackwardLinks(store);
  run.work = AttributeWork(store, run.links);
  const BackwardLinks& links = run.links;
  const Attribution& work = run.work;
  run.function_averages = std::make_shared<const FunctionAverages>(store);
  const CriticalTime critical(store, steps, inputs.marks);
  const std::function<void()> analyses[] = {
      [&] { run.tree = BuildAttributionTree(store, steps, critical, inputs.marks, links, work); },
      [&] { run.lines = MeasureLines(store, links, work); },
      [&] { run.operators = SummarizeOperators(store, steps, critical, links, work); },
      [&] { run.nvtx = SummarizeNvtx(store, steps, critical, work); },
      [&] { run.modules = SummarizeModules(store, steps, critical, links, work); },
      [&] { run.roofline = AnalyzeRoofline(store, steps, work); },
      [&] { run.gpu = SummarizeGpu(store, steps, work); },
      [&] { run.queues = AnalyzeLaunchQueues(store, steps); },
      [&] { run.breakdowns = BreakDownSteps(inputs, steps); },
      [&] { run.loop_work = FindLoopWork(inputs, steps); },
      [&] { run.recording_cost = FindRecordingCost(store, steps); },
  };
  ParallelFor(std::size(analyses), [&](size_t i) { analyses[i](); });
  FindHiddenLoading(run);
  if (options.phase_events) {
    run.phase_events = std::make_shared<const PhaseEvents>(
        FindPhaseEvents(inputs, steps, run.breakdowns, run.gpu.breakdowns, work));
  }
  run.distributed =
      AnalyzeDistributed(store, steps, work, run.gpu.breakdowns, BinStarts(run.tree.bins));
  return run;
}

std::shared_ptr<const PhaseEvents> PhaseEventsOf(const RunMeasures& run) {
  if (run.phase_events != nullptr) return run.phase_events;
  return std::make_shared<const PhaseEvents>(
      FindPhaseEvents(*run.inputs, run.steps, run.breakdowns, run.gpu.breakdowns, run.work));
}

}  // namespace batchlight
