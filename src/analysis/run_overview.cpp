#include "analysis/run_overview.h"

#include <algorithm>
#include <functional>

#include "analysis/advice/advice.h"
#include "analysis/step_bins.h"
#include "analysis/step_finders.h"
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

void FindHiddenLoading(RunOverview& overview) {
  for (GpuBreakdown& gpu : overview.gpu.breakdowns) {
    for (size_t i = 0; i < overview.breakdowns.size(); ++i) {
      if (overview.steps.processes[i].process != gpu.process) continue;
      const double exposed_ns = gpu.steady[static_cast<size_t>(GpuPart::kIdleDataLoading)].mean;
      gpu.hidden_loading_ns = std::max(0.0, LoadingNs(overview.breakdowns[i]) - exposed_ns);
    }
  }
}

}  // namespace

RunOverview BuildOverview(const Store& store, const OverviewOptions& options) {
  RunOverview overview;
  overview.store = &store;
  overview.session = DescribeSession(store);
  overview.losses = FindLosses(store);
  const StepInputs inputs(store);
  overview.steps = FindSteps(inputs, options.steps);
  const StepSet& steps = overview.steps;
  overview.measured_overhead = ReadMeasuredOverhead(store, steps);
  overview.links = BackwardLinks(store);
  overview.work = AttributeWork(store, overview.links);
  const BackwardLinks& links = overview.links;
  const Attribution& work = overview.work;
  const std::function<void()> analyses[] = {
      [&] { overview.tree = BuildAttributionTree(store, steps, inputs.marks, links, work); },
      [&] { overview.operators = SummarizeOperators(store, steps, links, work); },
      [&] { overview.nvtx = SummarizeNvtx(store, steps, work); },
      [&] { overview.modules = SummarizeModules(store, steps, links, work); },
      [&] { overview.roofline = AnalyzeRoofline(store, steps, work); },
      [&] { overview.gpu = SummarizeGpu(store, steps, work); },
      [&] { overview.queues = AnalyzeLaunchQueues(store, steps); },
      [&] { overview.breakdowns = BreakDownSteps(inputs, steps); },
      [&] { overview.recording_cost = EstimateRecordingCost(store, steps); },
  };
  ParallelFor(std::size(analyses), [&](size_t i) { analyses[i](); });
  FindHiddenLoading(overview);
  if (options.phase_events) {
    overview.phase_events = std::make_shared<const PhaseEvents>(
        FindPhaseEvents(inputs, steps, overview.breakdowns, overview.gpu.breakdowns, work));
  }
  overview.distributed = AnalyzeDistributed(store, steps, work, overview.gpu.breakdowns,
                                            BinStarts(overview.tree.bins));
  overview.findings = FindAdvice(overview);
  return overview;
}

}  // namespace batchlight
