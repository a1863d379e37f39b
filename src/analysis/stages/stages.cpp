#include "analysis/stages/stages.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/numbers/capture_windows.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/phases/gpu_waits.h"
#include "analysis/stages/around_saves.h"
#include "analysis/stages/between_epochs.h"
#include "analysis/stages/stage_paint.h"
#include "analysis/stages/start_up.h"
#include "analysis/steps/graph_use.h"
#include "analysis/steps/loop_span.h"
#include "analysis/steps/loop_tiler.h"
#include "analysis/steps/step_inputs.h"

namespace batchlight {
namespace {

// Steps of a kind that are a stage of their own. Compilers work outside of steps, too.
constexpr std::pair<StepKind, StageKind> kStagesOfSteps[] = {
    {StepKind::kWarmUp, StageKind::kWarmUp},
    {StepKind::kGraphCapture, StageKind::kGraphCapture},
    {StepKind::kCompile, StageKind::kCompile},
    {StepKind::kCounted, StageKind::kCounters}};

constexpr int64_t kLeastUnseenNs = 100'000'000;
constexpr size_t kFewestPerEpoch =
    4;  // gaps between steps: at most every fourth lies between epochs

// A recording of batchlight's own knows when its processes began and ended; other tools' files,
// only what happened meanwhile.
bool KnowsLives(const Store& store) { return !store.Property("batchlight.version").empty(); }

// Whether one of the times, ascending, lies in the span or at its end.
bool AnyWithin(const std::vector<int64_t>& times_ns, TimeSpan span) {
  const auto first = std::lower_bound(times_ns.begin(), times_ns.end(), span.start_ns);
  return first != times_ns.end() && *first <= span.end_ns;
}

class LifeOfProcess {
 public:
  // `steps`: nullptr if the process has none.
  LifeOfProcess(const StepInputs& inputs, ProcessId process, const ProcessSteps* steps)
      : inputs_(inputs), store_(inputs.store), process_(process), steps_(steps) {
    if (steps != nullptr) thread_ = steps->thread;
    if (thread_.IsNone() && !inputs.threads_of_process[process.row()].empty()) {
      thread_ = inputs.threads_of_process[process.row()].front();
    }
    FindLife();
    if (steps != nullptr && !Trains()) loop_ = StageKind::kInference;
  }

  ProcessStages Run() {
    ProcessStages found{.process = process_, .rank = store_.processes.rank[process_.row()]};
    if (life_.end_ns <= life_.start_ns) return found;
    stages_ = {{life_.start_ns, life_.end_ns, StageKind::kOther}};
    const BeforeLoop before = PaintStart();
    if (steps_ != nullptr) PaintLoop();
    PaintMarks();
    Lay(CallsOf(Phase::kRecorderBuild), StageKind::kRecorderBuild);
    if (steps_ != nullptr) Lay(StepsOf(StepKind::kCounted), StageKind::kCounters);
    PaintEnd();
    PaintUnrecorded();
    if (has_start_) found.start_up = PartsOfStartUp(before, stages_);
    found.spans = std::move(stages_);
    found.totals = Totals(found.spans);
    return found;
  }

 private:
  // Requests and batches whose model learns nothing. Steps by a range or by their kernels may.
  bool Trains() const {
    if (steps_->source != StepSource::kRequest && steps_->source != StepSource::kDataLoader) {
      return true;
    }
    return !inputs_.marks.Outermost(thread_, PhaseKind::kBackward).empty();
  }

  void FindLife() {
    has_start_ = KnowsLives(store_) || !CallsOf(Phase::kPythonStart).empty();
    const ProcessesTable& processes = store_.processes;
    const int64_t end_ns = processes.end_ns[process_.row()];
    life_ = {processes.start_ns[process_.row()], end_ns == kOpenEnd ? store_.duration_ns : end_ns};
    if (has_start_) return;
    TimeSpan seen{INT64_MAX, INT64_MIN};
    for (const ThreadId thread : inputs_.threads_of_process[process_.row()]) {
      const int64_t last_ns = store_.threads.end_ns[thread.row()];
      seen.start_ns = std::min(seen.start_ns, store_.threads.start_ns[thread.row()]);
      seen.end_ns = std::max(seen.end_ns, last_ns == kOpenEnd ? store_.duration_ns : last_ns);
    }
    if (steps_ != nullptr) {
      const TimeSpan loop = SpanOfLoop(steps_->steps).whole;
      seen.start_ns = std::min(seen.start_ns, loop.start_ns);
      seen.end_ns = std::max(seen.end_ns, loop.end_ns);
    }
    life_ = {std::max<int64_t>(0, seen.start_ns), std::min(seen.end_ns, store_.duration_ns)};
  }

  // The recorded calls of a phase on the thread.
  std::vector<TimeSpan> CallsOf(Phase phase) const {
    std::vector<TimeSpan> found;
    const ThreadSpans::Rows rows = inputs_.phase_rows.Of(thread_);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      if (store_.phase_calls.phase[row] != phase) continue;
      const int64_t start_ns = store_.phase_calls.start_ns[row];
      found.push_back({start_ns, ClosedEnd(store_, start_ns, store_.phase_calls.end_ns[row])});
    }
    return found;
  }

  BeforeLoop PaintStart() {
    if (!has_start_) return {};
    const bool loops = steps_ != nullptr;
    const int64_t loop_ns = loops ? SpanOfLoop(steps_->steps).whole.start_ns : life_.end_ns;
    const TimeSpan before{life_.start_ns, std::clamp(loop_ns, life_.start_ns, life_.end_ns)};
    BeforeLoop start = ExamineStart(inputs_, thread_, before, life_.end_ns - life_.start_ns);
    if (loops) {
      Lay({before}, StageKind::kStartUp);
      Lay(start.preprocessing, StageKind::kPreprocessing);
    } else {  // what is no start-up could be anything
      start.preprocessing.clear();
      Lay({{life_.start_ns, start.python_ns}}, StageKind::kStartUp);
      Lay(start.imports, StageKind::kStartUp);
    }
    return start;
  }

  void Lay(const std::vector<TimeSpan>& over, StageKind kind) {
    stages_ = Paint(stages_, over, kind);
  }

  void PaintLoop() {
    const std::vector<Step>& steps = steps_->steps;
    Lay({SpanOfLoop(steps).whole}, loop_);
    const std::vector<int64_t> epochs_ns = EpochStarts(inputs_, thread_);
    const bool has_epochs = AnyWithin(epochs_ns, {steps.front().end_ns, steps.back().end_ns - 1});
    const std::vector<TimeSpan> waits = WaitsForGpu();
    LayBetween(LongGaps(waits), waits, epochs_ns);
    LayBetween(FindBetweenEpochs(inputs_, *steps_, waits, has_epochs), waits, epochs_ns);
    Lay(StepsOf(StepKind::kWarmUp), StageKind::kWarmUp);
    Lay(StepsOf(StepKind::kGraphCapture), StageKind::kGraphCapture);
    Lay(StepsOf(StepKind::kCompile), StageKind::kCompile);
  }

  // What the GPU is at work on then, steps have launched.
  std::vector<TimeSpan> WaitsForGpu() const {
    std::vector<TimeSpan> waits;
    for (const GpuWait& wait : FindGpuWaits(store_, thread_)) {
      if (wait.kind == PhaseKind::kGpuWait) AddSpan(waits, wait.start_ns, wait.end_ns);
    }
    return waits;
  }

  // Time beside the steps lies between two epochs where one begins in it or at its end.
  void LayBetween(const std::vector<TimeSpan>& spans, const std::vector<TimeSpan>& waits,
                  const std::vector<int64_t>& epochs_ns) {
    std::vector<TimeSpan> epochs, steps;
    for (const TimeSpan& span : spans) {
      std::vector<TimeSpan>& kind = AnyWithin(epochs_ns, span) ? epochs : steps;
      VisitGaps(waits, span.start_ns, span.end_ns,
                [&](int64_t from_ns, int64_t to_ns) { AddSpan(kind, from_ns, to_ns); });
    }
    Lay(epochs, StageKind::kBetweenEpochs);
    Lay(steps, StageKind::kBetweenSteps);
  }

  std::vector<TimeSpan> StepsOf(StepKind kind) const {
    std::vector<TimeSpan> spans;
    for (const Step& step : steps_->steps) {
      if (step.kind == kind) AddSpan(spans, step.start_ns, step.end_ns);
    }
    return spans;
  }

  // Time between two steps that is longer than a step.
  std::vector<TimeSpan> LongGaps(const std::vector<TimeSpan>& waits) const {
    std::vector<TimeSpan> gaps;
    const std::vector<Step>& steps = steps_->steps;
    for (size_t i = 1; i < steps.size(); ++i) {
      const int64_t gap_ns = steps[i].start_ns - steps[i - 1].end_ns -
                             NsInside(waits, steps[i - 1].end_ns, steps[i].start_ns);
      if (gap_ns > steps_->duration.median) AddSpan(gaps, steps[i - 1].end_ns, steps[i].start_ns);
    }
    if (gaps.size() * kFewestPerEpoch > steps.size()) gaps.clear();
    return gaps;
  }

  void PaintMarks() {
    Lay(MarksOf(PhaseKind::kCompile), StageKind::kCompile);
    Lay(MarksOf(PhaseKind::kRollout), StageKind::kRollout);
    Lay(MarksOf(PhaseKind::kValidation), StageKind::kValidation);
    saves_ = MarksOf(PhaseKind::kCheckpoint);
    if (steps_ != nullptr) {
      const std::vector<TimeSpan> loading = MarksOf(PhaseKind::kDataLoading);
      Lay(AroundSaves(store_, thread_, stages_, saves_, loading), StageKind::kCheckpoint);
    }
    Lay(saves_, StageKind::kCheckpoint);
  }

  // What was found to be of a kind on the thread, by calls, ranges or names.
  std::vector<TimeSpan> MarksOf(PhaseKind kind) const {
    std::vector<TimeSpan> spans;
    const ThreadSpans::Rows rows = inputs_.marks.RowsOf(thread_);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const PhaseMark& mark = inputs_.marks.all()[row];
      if (mark.kind != kind) continue;
      // Reading a checkpoint is part of what it is read for.
      if (kind == PhaseKind::kCheckpoint && store_.Text(mark.name) == "torch.load") continue;
      AddSpan(spans, mark.start_ns, mark.end_ns);
    }
    return spans;
  }

  void PaintEnd() {
    const std::vector<TimeSpan> ends = CallsOf(Phase::kMainEnd);
    if (!ends.empty()) Lay({{ends.back().start_ns, life_.end_ns}}, StageKind::kShutdown);
  }

  // Outside of the windows of a capture nothing was seen.
  void PaintUnrecorded() {
    if (!has_start_ || store_.capture_windows.size() == 0) return;
    const std::vector<TimeSpan> windows = CaptureWindows(store_);
    std::vector<TimeSpan> unseen;
    VisitGaps(windows, life_.start_ns, life_.end_ns, [&](int64_t from_ns, int64_t to_ns) {
      // The first event opens the window, and the last one closes it.
      const bool edge = from_ns == life_.start_ns || to_ns == life_.end_ns;
      if (!edge || to_ns - from_ns > kLeastUnseenNs) AddSpan(unseen, from_ns, to_ns);
    });
    Lay(unseen, StageKind::kOther);
  }

  std::vector<StageTotal> Totals(const std::vector<StageSpan>& spans) const {
    std::array<StageTotal, kStageKinds> totals;
    for (const StageSpan& span : spans) {
      StageTotal& total = totals[static_cast<size_t>(span.kind)];
      // What lies around a save, and is cut off from it, is no checkpoint of its own.
      total.count +=
          span.kind != StageKind::kCheckpoint || NsInside(saves_, span.start_ns, span.end_ns) > 0;
      total.total_ns += span.duration_ns();
    }
    CountSteps(totals);
    std::vector<StageTotal> found;
    for (size_t kind = 0; kind < kStageKinds; ++kind) {
      StageTotal& total = totals[kind];
      if (total.total_ns == 0) continue;
      total.kind = static_cast<StageKind>(kind);
      total.share = double(total.total_ns) / double(life_.end_ns - life_.start_ns);
      total.each_ns = double(total.total_ns) / double(std::max<uint64_t>(1, total.count));
      found.push_back(total);
    }
    return found;
  }

  // A stage of steps has as many as there are steps in it.
  void CountSteps(std::array<StageTotal, kStageKinds>& totals) const {
    if (steps_ == nullptr) return;
    uint64_t others = steps_->steps.size();
    for (const auto& [kind, stage] : kStagesOfSteps) {
      const auto count = static_cast<uint64_t>(
          std::count_if(steps_->steps.begin(), steps_->steps.end(),
                        [kind = kind](const Step& step) { return step.kind == kind; }));
      others -= count;
      if (stage != StageKind::kCompile) totals[static_cast<size_t>(stage)].count = count;
    }
    totals[static_cast<size_t>(loop_)].count = others;
    // However often validation or preprocessing cuts it.
    totals[static_cast<size_t>(StageKind::kStartUp)].count = 1;
  }

  const StepInputs& inputs_;
  const Store& store_;
  ProcessId process_;
  const ProcessSteps* steps_;
  ThreadId thread_;
  StageKind loop_ = StageKind::kTraining;  // what its steps are
  TimeSpan life_;
  bool has_start_ = false;
  std::vector<StageSpan> stages_;
  std::vector<TimeSpan> saves_;
};

// The first process that Python says started in; else none.
ProcessId FirstPython(const Store& store) {
  for (size_t row = 0; row < store.phase_calls.size(); ++row) {
    if (store.phase_calls.phase[row] == Phase::kPythonStart) {
      return store.ProcessOf(store.phase_calls.thread[row]);
    }
  }
  return ProcessId::None();
}

}  // namespace

std::vector<TimeSpan> SpansOf(const std::vector<StageSpan>& stages, StageKind kind) {
  std::vector<TimeSpan> spans;
  for (const StageSpan& stage : stages) {
    if (stage.kind == kind) AddSpan(spans, stage.start_ns, stage.end_ns);
  }
  return spans;
}

const StageTotal* ProcessStages::Of(StageKind kind) const {
  for (const StageTotal& total : totals) {
    if (total.kind == kind) return &total;
  }
  return nullptr;
}

std::optional<MeanStages> MeanOf(const RunStages& stages) {
  const size_t count = stages.processes.size();
  if (count < 2) return {};
  MeanStages mean{.processes = count};
  std::array<StageTotal, kStageKinds> sums;
  int64_t wall_ns = 0;
  for (const ProcessStages& process : stages.processes) {
    wall_ns += process.wall_ns();
    for (const StageTotal& total : process.totals) {
      StageTotal& sum = sums[static_cast<size_t>(total.kind)];
      sum.kind = total.kind;
      sum.count += total.count;
      sum.total_ns += total.total_ns;
    }
  }
  const auto each = static_cast<double>(count);
  mean.wall_ns = std::llround(double(wall_ns) / each);
  for (const StageTotal& sum : sums) {
    if (sum.total_ns == 0) continue;
    mean.totals.push_back(
        {.kind = sum.kind,
         .count = static_cast<uint64_t>(std::llround(double(sum.count) / each)),
         .total_ns = std::llround(double(sum.total_ns) / each),
         .share = double(sum.total_ns) / double(wall_ns),
         .each_ns = double(sum.total_ns) / double(std::max<uint64_t>(1, sum.count))});
  }
  return mean;
}

std::optional<StageInStep> MostOf(const RunStages& stages, ProcessId process, const Step& step) {
  std::array<int64_t, kStageKinds> inside = {};
  for (const ProcessStages& life : stages.processes) {
    if (life.process != process) continue;
    for (const StageSpan& stage : life.spans) {
      const int64_t start_ns = std::max(stage.start_ns, step.start_ns);
      const int64_t end_ns = std::min(stage.end_ns, step.end_ns);
      if (end_ns > start_ns) inside[static_cast<size_t>(stage.kind)] += end_ns - start_ns;
    }
  }
  inside[static_cast<size_t>(StageKind::kTraining)] = 0;
  inside[static_cast<size_t>(StageKind::kInference)] = 0;
  const auto most = std::max_element(inside.begin(), inside.end());
  if (*most == 0 || 2 * *most < step.duration_ns()) return std::nullopt;
  return StageInStep{static_cast<StageKind>(most - inside.begin()), *most};
}

RunStages FindStages(const StepInputs& inputs, const StepSet& steps) {
  RunStages run;
  for (const ProcessSteps& process : steps.processes) {
    run.processes.push_back(LifeOfProcess(inputs, process.process, &process).Run());
  }
  const ProcessId first = run.processes.empty() ? FirstPython(inputs.store) : ProcessId::None();
  if (!first.IsNone()) run.processes.push_back(LifeOfProcess(inputs, first, nullptr).Run());
  std::erase_if(run.processes, [](const ProcessStages& process) { return process.spans.empty(); });
  return run;
}

}  // namespace batchlight
