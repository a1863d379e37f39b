#include "analysis/run/run_measures.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "analysis/owners/critical_time.h"
#include "analysis/run/measure_window.h"
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

StepSet WindowOf(const StepSet& found, int64_t from_ns, int64_t to_ns) {
  StepSet window{.processes = found.processes, .how = found.how, .problem = {}};
  for (ProcessSteps& process : window.processes) {
    process.steps = {{.start_ns = from_ns, .end_ns = to_ns}};
    process.steady = {0};
    process.duration = Summarize({to_ns - from_ns});
    process.between_ns = 0;
    process.outlier_count = 0;
  }
  return window;
}

RunMeasures MeasureSteps(std::shared_ptr<const StepInputs> made, StepSet found, bool phase_events) {
  const Store& store = made->store;
  RunMeasures run;
  run.store = &store;
  run.session = DescribeSession(store);
  run.losses = FindLosses(store);
  run.inputs = std::move(made);
  run.steps = std::move(found);
  const StepInputs& inputs = *run.inputs;
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
      [&] { run.operators = SummarizeOperators(store, steps, critical, links, work); },
      [&] { run.nvtx = SummarizeNvtx(store, steps, critical, work); },
      [&] { run.modules = SummarizeModules(store, steps, critical, links, work); },
      [&] { run.roofline = AnalyzeRoofline(store, steps, work); },
      [&] { run.gpu = SummarizeGpu(store, steps, work); },
      [&] { run.queues = AnalyzeLaunchQueues(store, steps); },
      [&] { run.breakdowns = BreakDownSteps(inputs, steps); },
      [&] { run.loop_work = FindLoopWork(inputs, steps); },
      [&] { run.recording_cost = EstimateRecordingCost(store, steps); },
  };
  ParallelFor(std::size(analyses), [&](size_t i) { analyses[i](); });
  FindHiddenLoading(run);
  if (phase_events) {
    run.phase_events = std::make_shared<const PhaseEvents>(
        FindPhaseEvents(inputs, steps, run.breakdowns, run.gpu.breakdowns, work));
  }
  run.distributed =
      AnalyzeDistributed(store, steps, work, run.gpu.breakdowns, BinStarts(run.tree.bins));
  return run;
}

}  // namespace

RunMeasures MeasureRun(const Store& store, const MeasureOptions& options) {
  auto inputs = std::make_shared<const StepInputs>(store);
  StepSet steps = FindSteps(*inputs, options.steps);
  return MeasureSteps(std::move(inputs), std::move(steps), options.phase_events);
}

RunMeasures MeasureWindow(const Store& store, const StepSet& found, int64_t from_ns,
                          int64_t to_ns) {
  return MeasureSteps(std::make_shared<const StepInputs>(store), WindowOf(found, from_ns, to_ns),
                      false);
}

std::shared_ptr<const PhaseEvents> PhaseEventsOf(const RunMeasures& run) {
  if (run.phase_events != nullptr) return run.phase_events;
  return std::make_shared<const PhaseEvents>(
      FindPhaseEvents(*run.inputs, run.steps, run.breakdowns, run.gpu.breakdowns, run.work));
}

}  // namespace batchlight
