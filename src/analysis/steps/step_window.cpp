#include "analysis/steps/step_window.h"

#include <algorithm>

#include "analysis/phases/plain_spans.h"
#include "analysis/steps/graph_use.h"
#include "analysis/steps/loop_tiler.h"
#include "analysis/steps/step_lookup.h"
#include "store/stall_samples.h"

namespace batchlight {
namespace {

// A compilation of less than this part of its step is not what made the step slow.
constexpr double kLeastPart = 0.02;

void Prefer(StepKind& kind, StepKind found) {
  // The names of the cause, strongest first.
  constexpr StepKind kOrder[] = {StepKind::kCompile,    StepKind::kGraphCapture,
                                 StepKind::kValidation, StepKind::kRollout,
                                 StepKind::kCheckpoint, StepKind::kEpochStart};
  for (const StepKind candidate : kOrder) {
    if (kind == candidate) return;
    if (found == candidate) kind = found;
  }
}

StepKind KindOfMark(const Store& store, const PhaseMark& mark) {
  if (mark.loader_start) return StepKind::kEpochStart;
  if (mark.kind == PhaseKind::kCompile) return StepKind::kCompile;
  return PauseKind(store, mark).value_or(StepKind::kSteady);
}

// Where nothing is trained, an evaluation is what the steps are about.
bool Trains(const ProcessSteps& process) {
  return process.source != StepSource::kRequest && process.source != StepSource::kDataLoader;
}

// Whether each step has a validation in it, so that none is another kind of step for that.
bool ValidatesInEveryStep(const StepInputs& inputs, const ProcessSteps& process) {
  size_t with = 0;
  size_t last = SIZE_MAX;
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(process.thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs.marks.all()[row];
    if (mark.kind != PhaseKind::kValidation) continue;
    const size_t i = StepLookup::FirstUnfinished(process.steps, mark.start_ns);
    if (i >= process.steps.size() || i == last) continue;
    if (process.steps[i].start_ns > mark.start_ns) continue;
    last = i;
    ++with;
  }
  return IsInEveryStep(with, process.steps.size() - 1);
}

void NameByMarks(const StepInputs& inputs, ProcessSteps& process) {
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(process.thread);
  const bool validates_apart = Trains(process) && !ValidatesInEveryStep(inputs, process);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs.marks.all()[row];
    const StepKind kind = KindOfMark(inputs.store, mark);
    if (kind == StepKind::kSteady || (kind == StepKind::kValidation && !validates_apart)) {
      continue;
    }
    for (size_t i = StepLookup::FirstUnfinished(process.steps, mark.start_ns);
         i < process.steps.size() && process.steps[i].start_ns < mark.end_ns; ++i) {
      Step& step = process.steps[i];
      const int64_t part =
          std::min(mark.end_ns, step.end_ns) - std::max(mark.start_ns, step.start_ns);
      const bool whole_loop = mark.start_ns <= step.start_ns && mark.end_ns >= step.end_ns;
      const bool matters =
          kind == StepKind::kEpochStart || double(part) >= kLeastPart * double(step.duration_ns());
      // A range around the step ("validation" over a whole loop) names it as well.
      if (matters || whole_loop) Prefer(step.kind, kind);
    }
  }
}

// A step in which an epoch of the user begins, when that is not where the step begins.
void NameByEpochs(const StepInputs& inputs, ProcessSteps& process) {
  auto begins = [&](int64_t time) {
    const size_t i = StepLookup::FirstUnfinished(process.steps, time);
    if (i == 0 || i >= process.steps.size()) return;
    Step& step = process.steps[i];
    if (step.start_ns < time) Prefer(step.kind, StepKind::kEpochStart);
  };
  for (const int64_t start_ns : NamedEpochStarts(inputs, process.thread)) begins(start_ns);
}

// Steps that capture a CUDA graph, and those before, whose work then is replayed.
void NameByGraphs(const Store& store, ProcessSteps& process) {
  const GraphUse use = FindGraphUse(store, process.thread);
  std::vector<Step>& steps = process.steps;
  std::vector<size_t> captured;
  for (const TimeSpan& capture : use.captures) {
    for (size_t i = StepLookup::FirstUnfinished(steps, capture.start_ns);
         i < steps.size() && steps[i].start_ns < capture.end_ns; ++i) {
      if (captured.empty() || captured.back() < i) captured.push_back(i);
    }
  }
  // A loop that builds a graph in every other step is used to it.
  if (captured.empty() || captured.size() * 2 > steps.size()) return;
  for (const size_t i : captured) Prefer(steps[i].kind, StepKind::kGraphCapture);
  const size_t after_captured = captured.back() + 1;
  size_t replayed = 0;  // steps after the captures that launch a graph
  size_t last = steps.size();
  for (const uint32_t row : use.replays) {
    const size_t i = StepLookup::FirstUnfinished(steps, store.api_calls.start_ns[row]);
    if (i < after_captured || i >= steps.size() || i == last) continue;
    last = i;
    ++replayed;
  }
  const bool loop_replays = replayed * 2 > steps.size() - after_captured;
  if (!loop_replays || captured.front() > steps.size() / 3) return;
  for (size_t i = 0; i < captured.front(); ++i) {
    if (steps[i].kind == StepKind::kSteady) steps[i].kind = StepKind::kWarmUp;
  }
}

std::vector<int64_t> SteadyDurations(const ProcessSteps& process) {
  std::vector<int64_t> durations;
  for (const Step& step : process.steps) {
    if (step.kind == StepKind::kSteady) durations.push_back(step.duration_ns());
  }
  return durations;
}

// The first step of an epoch that takes no longer than others counts like them; so it does where
// most steps begin one.
void KeepOrdinaryEpochStarts(ProcessSteps& process) {
  const Sample others = Summarize(SteadyDurations(process));
  const auto starts = static_cast<size_t>(
      std::count_if(process.steps.begin(), process.steps.end(),
                    [](const Step& step) { return step.kind == StepKind::kEpochStart; }));
  const int64_t limit = starts > others.count ? INT64_MAX : others.median + OutlierDistance(others);
  for (Step& step : process.steps) {
    const bool ordinary = step.kind == StepKind::kEpochStart && step.duration_ns() <= limit;
    if (ordinary) step.kind = StepKind::kSteady;
  }
}

// Of two or three steps the first is cold if it took far longer than any other.
void NameColdFirst(ProcessSteps& process, const std::vector<int64_t>& durations) {
  if (durations.size() < 2) return;
  const int64_t longest = *std::max_element(durations.begin() + 1, durations.end());
  if (durations.front() < 2 * longest) return;
  const auto first = std::find_if(process.steps.begin(), process.steps.end(),
                                  [](const Step& step) { return step.kind == StepKind::kSteady; });
  first->kind = StepKind::kWarmUp;
}

// Steps at the start that took longer than the rest ever does. The rest is the second half, so
// that a long warm-up does not make itself the norm.
void NameWarmUp(ProcessSteps& process) {
  std::vector<int64_t> durations = SteadyDurations(process);
  if (durations.size() < 4) return NameColdFirst(process, durations);
  const ptrdiff_t half = static_cast<ptrdiff_t>(durations.size() / 2);
  const Sample rest = Summarize(std::vector<int64_t>(durations.begin() + half, durations.end()));
  const int64_t limit = rest.median + OutlierDistance(rest);
  size_t left = durations.size() / 3;
  for (Step& step : process.steps) {
    if (step.kind != StepKind::kSteady) continue;
    if (left-- == 0 || step.duration_ns() <= limit) return;
    step.kind = StepKind::kWarmUp;
  }
}

// Steps that were recorded without detail stand for no others: neither in times, as they are
// shorter, nor in operators and kernels, of which they have none. So does a step that is such in
// part, where the loop is cut elsewhere than the recorder thought.
void NameByDetail(const Store& store, ProcessSteps& process) {
  constexpr double kAllBut = 0.05;  // of a step, that may be of the other kind
  const std::vector<PlainSpan> spans = FindPlainSpans(store, process.process);
  if (spans.empty()) return;
  auto span = spans.begin();
  for (Step& step : process.steps) {
    while (span != spans.end() && span->end_ns <= step.start_ns) ++span;
    int64_t plain_ns = 0;
    for (auto at = span; at != spans.end() && at->start_ns < step.end_ns; ++at) {
      plain_ns += std::min(at->end_ns, step.end_ns) - std::max(at->start_ns, step.start_ns);
    }
    const double share = double(plain_ns) / double(std::max<int64_t>(1, step.duration_ns()));
    if (step.kind != StepKind::kSteady || share <= kAllBut) continue;
    step.kind = share >= 1 - kAllBut ? StepKind::kPlain : StepKind::kPartlyPlain;
  }
}

// Counters are switched before the first of the steps that are measured in a row, and after the
// last one.
class Switches {
 public:
  Switches(const CounterRangesTable& ranges, ProcessId process) {
    for (size_t row = 0; row < ranges.size(); ++row) {
      if (ranges.process[row] != process) continue;
      starts_.push_back(ranges.start_ns[row]);
      ends_.push_back(ranges.end_ns[row]);
    }
    std::sort(starts_.begin(), starts_.end());
    std::sort(ends_.begin(), ends_.end());
  }
  bool IsFirst(int64_t start_ns) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), start_ns);
    return end == ends_.begin() || start_ns - *std::prev(end) > kInARowNs;
  }
  bool IsLast(int64_t end_ns) const {
    const auto start = std::lower_bound(starts_.begin(), starts_.end(), end_ns);
    return start == starts_.end() || *start - end_ns > kInARowNs;
  }

 private:
  static constexpr int64_t kInARowNs = 100'000;  // from the end of one to the begin of the next
  std::vector<int64_t> starts_, ends_;
};

// Kernels that are measured one by one run one by one, and switching counters takes longer than
// many a step; what is counted over whole steps costs nothing.
void NameByCounters(const Store& store, ProcessSteps& process) {
  const CounterRangesTable& ranges = store.counter_ranges;
  const Switches switches(ranges, process.process);
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (ranges.process[row] != process.process) continue;
    constexpr int64_t kHourNs = 3'600'000'000'000;
    const int64_t switch_ns = std::min(ranges.switch_ns[row], kHourNs);
    const int64_t before_ns = switches.IsFirst(ranges.start_ns[row]) ? switch_ns : 0;
    const int64_t after_ns = switches.IsLast(ranges.end_ns[row]) ? switch_ns : 0;
    const int64_t begin_ns = ranges.start_ns[row] - before_ns;
    const int64_t end_ns = std::min(ranges.end_ns[row], kOpenEnd - kHourNs) + after_ns;
    for (size_t i = StepLookup::FirstUnfinished(process.steps, begin_ns);
         i < process.steps.size() && process.steps[i].start_ns < end_ns; ++i) {
      Step& step = process.steps[i];
      const int64_t part_ns = std::min(end_ns, step.end_ns) - std::max(begin_ns, step.start_ns);
      const double least_ns = kLeastPart * double(step.duration_ns());
      const bool one_by_one =
          ranges.kernels[row] != 0 || store.Text(ranges.counter_set[row]) == kSerializedStalls;
      const bool slowed = one_by_one || double(switch_ns) > least_ns;
      if (slowed && double(part_ns) > least_ns) {
        step.kind = StepKind::kCounted;
      }
    }
  }
}

// Looks take milliseconds of a large model's call. Their steps stand for no others where there are
// as many others.
void NameByLooks(const Store& store, ProcessSteps& process) {
  constexpr size_t kLeastOthers = 3;
  const PhaseCallsTable& calls = store.phase_calls;
  std::vector<Step>& steps = process.steps;
  std::vector<size_t> looked;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.phase[row] != Phase::kLook || calls.thread[row] != process.thread) continue;
    const size_t i = StepLookup::LastBegun(steps, calls.start_ns[row]);
    if (i == StepLookup::kNone || calls.start_ns[row] >= steps[i].end_ns) continue;
    if (steps[i].kind == StepKind::kSteady && (looked.empty() || looked.back() < i)) {
      looked.push_back(i);
    }
  }
  const size_t steady = SteadyDurations(process).size();
  if (steady < looked.size() + std::max(kLeastOthers, looked.size())) return;
  for (const size_t i : looked) steps[i].kind = StepKind::kLookedAt;
}

// Where no step is steady. Those without detail would make averages of operators wrong.
void AddAllButExcluded(ProcessSteps& process) {
  const auto add = [&process](bool plain) {
    for (size_t i = 0; i < process.steps.size(); ++i) {
      const StepKind kind = process.steps[i].kind;
      if (kind == StepKind::kExcluded || (kind == StepKind::kPlain && !plain)) continue;
      process.steady.push_back(static_cast<uint32_t>(i));
    }
  };
  add(false);
  if (process.steady.empty()) add(true);
}

int64_t MedianBetween(const ProcessSteps& process) {
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < process.steps.size(); ++i) {
    if (process.steps[i].kind != StepKind::kSteady) continue;
    gaps.push_back(process.steps[i].start_ns - process.steps[i - 1].end_ns);
  }
  return Summarize(std::move(gaps)).median;
}

}  // namespace

void FindSteadyWindow(const StepInputs& inputs, const StepPart& part, ProcessSteps& process) {
  if (!process.thread.IsNone()) {
    NameByMarks(inputs, process);
    NameByEpochs(inputs, process);
    NameByGraphs(inputs.store, process);
  }
  KeepOrdinaryEpochStarts(process);
  NameByDetail(inputs.store, process);
  NameByCounters(inputs.store, process);
  NameWarmUp(process);
  NameByLooks(inputs.store, process);
  // Not before: what a step is does not depend on which others are looked at. The slow first step
  // of a part would be its warm-up.
  for (size_t i = 0; i < process.steps.size(); ++i) {
    const int64_t place = static_cast<int64_t>(i);
    if (place < part.first_step || place > part.last_step) {
      process.steps[i].kind = StepKind::kExcluded;
    }
  }
  CountSteady(process);
}

void CountSteady(ProcessSteps& process) {
  process.steady.clear();
  process.outlier_count = 0;
  for (Step& step : process.steps) step.outlier = false;
  for (size_t i = 0; i < process.steps.size(); ++i) {
    if (process.steps[i].kind == StepKind::kSteady) {
      process.steady.push_back(static_cast<uint32_t>(i));
    }
  }
  if (process.steady.empty()) AddAllButExcluded(process);
  std::vector<int64_t> durations;
  for (const uint32_t i : process.steady) durations.push_back(process.steps[i].duration_ns());
  process.duration = Summarize(std::move(durations));
  process.between_ns = MedianBetween(process);
  if (process.steady.size() < 5) return;
  const int64_t limit = process.duration.median + OutlierDistance(process.duration);
  for (const uint32_t i : process.steady) {
    process.steps[i].outlier = process.steps[i].duration_ns() > limit;
    process.outlier_count += process.steps[i].outlier;
  }
}

void NameAsKnown(const StepSet& known, StepSet& part) {
  for (ProcessSteps& process : part.processes) {
    const ProcessSteps* as = known.Of(process.process);
    if (as == nullptr || as->steps.size() != process.steps.size()) continue;
    for (size_t i = 0; i < process.steps.size(); ++i) {
      Step& step = process.steps[i];
      step.number = as->steps[i].number;
      if (step.kind != StepKind::kExcluded) step.kind = as->steps[i].kind;
    }
    CountSteady(process);
  }
}

StepSet StepsWithin(const StepSet& steps, const TimeSpan& within) {
  StepSet one{.how = steps.how, .within = within};
  for (const ProcessSteps& process : steps.processes) {
    one.processes.push_back({.process = process.process,
                             .rank = process.rank,
                             .thread = process.thread,
                             .source = process.source,
                             .marker = process.marker,
                             .steps = {{.start_ns = within.start_ns, .end_ns = within.end_ns}},
                             .steady = {0},
                             .duration = Summarize({within.duration_ns()})});
  }
  return one;
}

}  // namespace batchlight
