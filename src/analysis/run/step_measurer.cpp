#include "analysis/run/step_measurer.h"

#include <algorithm>
#include <functional>

#include "analysis/breakdown/breakdown_of_steps.h"
#include "analysis/run/step_rate.h"
#include "analysis/steps/step_bins.h"
#include "analysis/steps/step_window.h"
#include "base/thread_pool.h"

namespace batchlight {
namespace {

bool HaveSameLoops(const StepOptions& a, const StepOptions& b) {
  return a.range == b.range && a.key == b.key;
}

bool HaveSameProcesses(const StepOptions& a, const StepOptions& b) {
  const bool same_processes =
      std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                 [](const ProcessPart& x, const ProcessPart& y) { return x.process == y.process; });
  return same_processes && a.rank == b.rank;
}

void MeasureGradients(const Store& store, RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  const PhaseMarks& marks = run.inputs->marks;
  run.repeated_backward = FindRepeatedBackward(store, main, marks, run.links, run.work);
  run.double_backward = FindDoubleBackward(store, main, marks, run.links, run.work);
  run.unused_gradients = FindUnusedGradients(store, main, marks, run.links, run.work);
}

// As Attribution::total_ns has it.
int64_t WorkNs(const Store& store) {
  int64_t sum_ns = 0;
  const auto add = [&](const auto& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.end_ns[row] != kOpenEnd) sum_ns += table.end_ns[row] - table.start_ns[row];
    }
  };
  add(store.kernels);
  add(store.memcpys);
  add(store.memsets);
  add(store.graph_launches);
  return sum_ns;
}

}  // namespace

void StepMeasurer::MeasureWhole(StepMeasures wanted, RunMeasures& run) {
  if (run.inputs == nullptr) {
    run.store = &store_;
    if (basis_.inputs == nullptr) basis_.inputs = std::make_shared<const StepInputs>(store_);
    run.inputs = basis_.inputs;
    has_owners_ = false;
  }
  // What a step is made of on the CPU is told without knowing whose work is whose, which takes ten
  // times as long: who selects a step sees that first.
  wanted.reset(static_cast<size_t>(StepMeasure::kBreakdowns));
  if (wanted.none() || has_owners_) return;
  has_owners_ = true;
  // Both need it, on one thread each.
  const std::function<void()> parts[] = {[&] { run.links = BackwardLinks(store_); },
                                         [&] {
                                           if (wanted[static_cast<size_t>(StepMeasure::kGpu)])
                                             FindGpus();
                                           static_cast<void>(run.inputs->operators());
                                         }};
  ParallelFor(std::size(parts), [&](size_t i) { parts[i](); });
  run.work = AttributeWork(*run.inputs, run.links);
}

void StepMeasurer::FindGpus() {
  if (basis_.gpus == nullptr) basis_.gpus = std::make_shared<const GpuActivity>(*basis_.inputs);
}

std::vector<StepBreakdown> StepMeasurer::BreakDown(const StepInputs& inputs, const StepSet& steps) {
  if (steps.within) return BreakdownsWithin(inputs, all_steps_, steps);
  if (breakdowns_) return BreakdownsOfSteps(*breakdowns_, steps);
  breakdowns_ = BreakDownSteps(inputs, steps);
  return *breakdowns_;
}

GpuSummary StepMeasurer::SumUpGpu(const StepSet& steps, const Attribution& work) {
  FindGpus();
  if (!gpu_) gpu_.emplace(*basis_.gpus, all_steps_, *launched_, work);
  GpuSummary summary = gpu_->Of(steps);
  if (steps.within) summary.breakdowns = GpuStretches(*basis_.gpus).Of(steps);
  return summary;
}

void StepMeasurer::SetHiddenLoading(const StepInputs& inputs, const StepSet& steps,
                                    GpuSummary& gpu) {
  if (steps.within) return;  // no table of a part has it
  if (!hidden_loading_) hidden_loading_.emplace(inputs, basis_.gpus->devices, all_steps_);
  for (GpuBreakdown& breakdown : gpu.breakdowns) {
    breakdown.hidden_loading_ns = hidden_loading_->MeanNs(breakdown, *steps.Of(breakdown.process));
  }
}

void StepMeasurer::MeasureParts(StepMeasures wanted, RunMeasures& run) {
  const StepInputs& inputs = *run.inputs;
  const StepSet& steps = run.steps;
  const BackwardLinks& links = run.links;
  const Attribution& work = run.work;
  const CriticalTime& critical = critical_;
  using Part = StepMeasure;
  const std::pair<Part, std::function<void()>> parts[] = {
      {Part::kTree,
       [&] {
         run.tree = BuildAttributionTree(store_, steps, critical, inputs.marks, links, work);
       }},
      {Part::kLines, [&] { run.lines = MeasureLines(store_, links, work); }},
      {Part::kLineMemory, [&] { run.line_memory = MeasureLineMemory(store_, steps); }},
      {Part::kOperators,
       [&] {
         if (!operators_) operators_.emplace(store_, links, work);
         run.operators = operators_->Of(steps, critical, *launched_, work);
       }},
      {Part::kNvtx,
       [&] {
         if (!nvtx_) nvtx_.emplace(store_, work);
         run.nvtx = nvtx_->Of(steps, critical);
       }},
      {Part::kModules,
       [&] {
         if (!modules_) modules_.emplace(inputs, links, work);
         run.modules = modules_->Of(steps, critical, links, *launched_, work);
       }},
      {Part::kGradients, [&] { MeasureGradients(store_, run); }},
      {Part::kRoofline,
       [&] {
         if (!roofline_) roofline_.emplace(store_, work);
         run.roofline = roofline_->Of(steps);
       }},
      {Part::kGpu,
       [&] {
         run.gpu = SumUpGpu(steps, work);
         SetHiddenLoading(inputs, steps, run.gpu);
       }},
      {Part::kQueues, [&] { run.queues = AnalyzeLaunchQueues(store_, steps); }},
      {Part::kBreakdowns, [&] { run.breakdowns = BreakDown(inputs, steps); }},
      {Part::kLoopWork, [&] { run.loop_work = FindLoopWork(inputs, steps); }},
      {Part::kForwardParts,
       [&] {
         run.forward_parts = FindForwardParts(store_, steps.Main(), inputs.marks, links, work);
         run.seen_operands = FindSeenOperands(store_, steps.Main(), links, work);
         run.unlearned_work = FindUnlearnedWork(store_, steps.Main(), inputs.marks);
       }},
      {Part::kCudnnPlans, [&] { run.cudnn_plans = FindCudnnPlans(store_, steps.Main()); }},
      {Part::kRecordingCost, [&] { run.recording_cost = FindRecordingCost(store_, steps); }},
  };
  if (has_owners_ && !launched_) launched_.emplace(store_, all_steps_);
  ParallelFor(std::size(parts), [&](size_t i) {
    if (wanted[static_cast<size_t>(parts[i].first)]) parts[i].second();
  });
  Combine(wanted, run);
}

void StepMeasurer::Combine(StepMeasures wanted, RunMeasures& run) const {
  using Part = StepMeasure;
  const auto is_wanted = [&](Part part) { return wanted[static_cast<size_t>(part)]; };
  // Tables show other columns where a GPU worked.
  if (!is_wanted(Part::kGpu)) run.gpu.work_ns = has_owners_ ? run.work.total_ns : WorkNs(store_);
  if (is_wanted(Part::kRecordingCost)) {
    const StepRate rate = RateOfSteps(run, 0);
    if (rate.of_gpu) OfGpu(run.recording_cost, rate.period_ns);
  }
  if (!is_wanted(Part::kDistributed)) return;
  const std::vector<uint32_t> bins =
      is_wanted(Part::kTree) ? BinStarts(run.tree.bins) : std::vector<uint32_t>();
  run.distributed =
      AnalyzeDistributed(store_, run.steps, all_steps_, run.work, run.gpu.breakdowns, bins);
}

StepSet StepMeasurer::Choose(const StepOptions& options, const StepInputs& inputs) const {
  StepSet steps = ChooseSteps(inputs, options, *basis_.loops);
  if (known_ != nullptr) NameAsKnown(*known_, steps);
  return steps;
}

void StepMeasurer::FindLoopsOf(const StepOptions& options, const StepInputs& inputs) {
  if (basis_.loops == nullptr || (loops_of_ && !HaveSameLoops(options, *loops_of_))) {
    basis_.loops = std::make_shared<const StepSet>(FindLoops(inputs, options));
  } else if (loops_of_ && HaveSameProcesses(options, *loops_of_)) {
    return;
  }
  critical_ = CriticalTime(store_, Choose(options, inputs), inputs.marks);
  StepOptions all = options;
  all.first_step = StepOptions().first_step;
  all.last_step = StepOptions().last_step;
  for (ProcessPart& part : all.parts) part.steps = StepPart();
  all_steps_ = Choose(all, inputs);
  breakdowns_.reset();
  gpu_.reset();
  launched_.reset();
  hidden_loading_.reset();
  loops_of_ = options;
}

void StepMeasurer::Measure(const StepOptions& options, StepMeasures wanted, RunMeasures& run) {
  MeasureWhole(wanted, run);
  FindLoopsOf(options, *run.inputs);
  critical_.KeepAll();
  run.steps = Choose(options, *run.inputs);
  MeasureParts(wanted, run);
}

void StepMeasurer::MeasureWithin(const StepOptions& options, const TimeSpan& within,
                                 StepMeasures wanted, RunMeasures& run) {
  MeasureWhole(wanted, run);
  FindLoopsOf(options, *run.inputs);
  critical_.KeepWithin(within);
  run.steps = StepsWithin(all_steps_, within);
  MeasureParts(wanted, run);
}

}  // namespace batchlight
