// All measures of a run, each computed once: the advice judges them, and the summary, the report
// page and the tables show them with it (analysis/overview/run_overview.h).
#pragma once

#include <memory>
#include <vector>

#include "analysis/breakdown/loop_work.h"
#include "analysis/breakdown/phase_events.h"
#include "analysis/breakdown/step_breakdown.h"
#include "analysis/forward/forward_parts.h"
#include "analysis/forward/seen_operands.h"
#include "analysis/forward/unlearned_work.h"
#include "analysis/gpu/cudnn_plans.h"
#include "analysis/gpu/gpu_summary.h"
#include "analysis/gpu/launch_queue.h"
#include "analysis/gradients/double_backward.h"
#include "analysis/gradients/repeated_backward.h"
#include "analysis/gradients/unused_gradients.h"
#include "analysis/lines/line_memory.h"
#include "analysis/lines/line_times.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/attribution_tree.h"
#include "analysis/owners/backward_links.h"
#include "analysis/owners/function_averages.h"
#include "analysis/owners/module_summary.h"
#include "analysis/owners/nvtx_summary.h"
#include "analysis/owners/operator_summary.h"
#include "analysis/ranks/collectives.h"
#include "analysis/roofline/roofline.h"
#include "analysis/run/losses.h"
#include "analysis/run/measured_overhead.h"
#include "analysis/run/recording_cost.h"
#include "analysis/run/session_info.h"
#include "analysis/stages/stages.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct MeasureOptions {
  StepOptions steps;
  bool phase_events = false;  // made on demand (PhaseEventsOf), unless asked for here
};

struct RunMeasures {
  // Out of line: each file that holds one would compile the end of all these.
  RunMeasures();
  RunMeasures(RunMeasures&& other) noexcept;
  RunMeasures& operator=(RunMeasures&& other) noexcept;
  ~RunMeasures();

  const Store* store = nullptr;  // names of rows; must outlive this
  SessionInfo session;
  std::vector<LossWarning> losses;
  std::shared_ptr<const StepInputs> inputs;  // what steps and phases were found by
  StepSet steps;
  RunStages stages;
  MeasuredOverhead measured_overhead;
  BackwardLinks links;
  Attribution work;                         // whose GPU work is
  std::vector<StepBreakdown> breakdowns;    // one per steps.processes
  LoopWork loop_work;                       // of the main process
  ForwardParts forward_parts;               // of the main process
  std::vector<SeenOperands> seen_operands;  // of the main process
  UnlearnedWork unlearned_work;             // of the main process
  PlansOfCudnn cudnn_plans;                 // of the main process
  RecordingCost recording_cost;
  ModuleSummary modules;
  UnusedGradients unused_gradients;    // of the main process
  RepeatedBackward repeated_backward;  // the same
  DoubleBackward double_backward;      // the same
  OperatorSummary operators;
  std::shared_ptr<const FunctionAverages> function_averages;
  NvtxSummary nvtx;
  AttributionTree tree;
  LineTimes lines;                                  // empty() where no Python stacks were recorded
  LineMemory line_memory;                           // empty() without --python-memory
  Roofline roofline;                                // no rows where shapes were not recorded
  GpuSummary gpu;                                   // empty() without GPU work
  std::shared_ptr<const PhaseEvents> phase_events;  // nullptr: not made

  Distributed distributed;
  std::vector<LaunchQueue> queues;  // per training process and device

  const StepBreakdown* MainBreakdown() const {
    return breakdowns.empty() ? nullptr : &breakdowns.front();
  }
};

RunMeasures MeasureRun(const Store& store, const MeasureOptions& options);

// The phase events of a run, made now if it was measured without them.
std::shared_ptr<const PhaseEvents> PhaseEventsOf(const RunMeasures& run);

}  // namespace batchlight
