// Everything that the summary, the report page and the tables show, built once.
#pragma once

#include <memory>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/attribution.h"
#include "analysis/attribution_tree.h"
#include "analysis/backward_links.h"
#include "analysis/collectives.h"
#include "analysis/gpu_summary.h"
#include "analysis/launch_queue.h"
#include "analysis/losses.h"
#include "analysis/measured_overhead.h"
#include "analysis/module_summary.h"
#include "analysis/nvtx_summary.h"
#include "analysis/operator_summary.h"
#include "analysis/phase_events.h"
#include "analysis/recording_cost.h"
#include "analysis/roofline.h"
#include "analysis/session_info.h"
#include "analysis/step_breakdown.h"
#include "analysis/steps.h"
#include "store/store.h"

namespace batchlight {

struct OverviewOptions {
  StepOptions steps;
  bool phase_events = false;  // made on demand (PhaseEventsOf), unless asked for here
};

struct RunOverview {
  const Store* store = nullptr;  // names of rows; must outlive this
  SessionInfo session;
  std::vector<LossWarning> losses;
  StepSet steps;
  MeasuredOverhead measured_overhead;
  BackwardLinks links;
  Attribution work;                       // whose GPU work is
  std::vector<StepBreakdown> breakdowns;  // one per steps.processes
  RecordingCost recording_cost;
  ModuleSummary modules;
  OperatorSummary operators;
  NvtxSummary nvtx;
  AttributionTree tree;
  Roofline roofline;              // no rows where shapes were not recorded
  GpuSummary gpu;                 // empty() without GPU work
  std::vector<Finding> findings;  // what to change, by falling gain

  std::shared_ptr<const PhaseEvents> phase_events;  // nullptr: not made

  Distributed distributed;
  std::vector<LaunchQueue> queues;  // per training process and device

  const StepBreakdown* MainBreakdown() const {
    return breakdowns.empty() ? nullptr : &breakdowns.front();
  }
};

RunOverview BuildOverview(const Store& store, const OverviewOptions& options = {});

}  // namespace batchlight
