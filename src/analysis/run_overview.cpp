#include "analysis/run_overview.h"

#include <functional>

#include "analysis/advice/advice.h"
#include "analysis/step_finders.h"
#include "base/thread_pool.h"

namespace batchlight {

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
  overview.distributed = AnalyzeDistributed(store, steps, work, overview.gpu.breakdowns);
  overview.findings = FindAdvice(overview);
  return overview;
}

}  // namespace batchlight
