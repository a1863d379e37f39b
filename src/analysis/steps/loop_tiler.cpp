#include "analysis/steps/loop_tiler.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "analysis/numbers/quantile.h"
#include "analysis/phases/capture_starts.h"
#include "analysis/phases/phase_kind.h"

namespace batchlight {
namespace {

// How many of the times, ascending, lie in [from, to).
size_t CountWithin(const std::vector<int64_t>& times, int64_t from_ns, int64_t to_ns) {
  const auto first = std::lower_bound(times.begin(), times.end(), from_ns);
  return static_cast<size_t>(std::lower_bound(first, times.end(), std::max(from_ns, to_ns)) -
                             first);
}

// The first of the times, ascending, from a moment on; kOpenEnd: none.
int64_t FirstFrom(const std::vector<int64_t>& times, int64_t from_ns) {
  const auto first = std::lower_bound(times.begin(), times.end(), from_ns);
  return first == times.end() ? kOpenEnd : *first;
}

}  // namespace

std::vector<IterationEnd> EndsOf(const std::vector<Update>& updates, const UpdatePattern& pattern) {
  std::vector<IterationEnd> ends;
  for (size_t i = 0; i < pattern.ends.size(); ++i) {
    const size_t first = i == 0 ? 0 : pattern.ends[i - 1] + 1;
    ends.push_back({.end_ns = updates[pattern.ends[i]].end_ns,
                    .start_ns = updates[first].start_ns,
                    .fresh = pattern.fresh[i]});
  }
  return ends;
}

std::optional<StepKind> PauseKind(const Store& store, const PhaseMark& mark) {
  if (mark.kind == PhaseKind::kValidation) return StepKind::kValidation;
  if (mark.kind == PhaseKind::kRollout && !mark.of_step) return StepKind::kRollout;
  const bool saves = mark.kind == PhaseKind::kCheckpoint && store.Text(mark.name) != "torch.load";
  return saves ? std::optional(StepKind::kCheckpoint) : std::nullopt;
}

bool IsInEveryStep(size_t with, size_t iterations) {
  constexpr size_t kEnough = 5;
  return iterations >= kEnough && with * 10 >= iterations * 9;
}

LoopTiler::LoopTiler(const StepInputs& inputs, ProcessId process, ThreadId thread)
    : inputs_(inputs), process_(process), thread_(thread) {
  AddBreaks();
  for (const PhaseMark& mark : inputs.marks.Outermost(thread, PhaseKind::kDataLoading)) {
    if (!IsBroken(mark.start_ns)) loads_.push_back(mark.start_ns);
  }
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  int64_t covered_until = INT64_MIN;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs.marks.all()[row];
    if (!IsOfModel(mark.kind) || mark.start_ns < covered_until || IsBroken(mark.start_ns)) continue;
    cores_.push_back(mark.start_ns);
    if (mark.kind == PhaseKind::kBackward) backwards_.push_back(mark.start_ns);
    covered_until = mark.end_ns;
  }
}

void LoopTiler::AddBreaks() {
  const ThreadSpans::Rows rows = inputs_.marks.RowsOf(thread_);
  int64_t covered_until = INT64_MIN;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs_.marks.all()[row];
    if (mark.start_ns < covered_until) continue;
    if (mark.loader_start) {
      loader_starts_.push_back(mark.start_ns);
      breaks_.push_back({mark.start_ns, mark.start_ns, StepKind::kEpochStart, true});
      continue;
    }
    const std::optional<StepKind> kind = PauseKind(inputs_.store, mark);
    if (kind) breaks_.push_back({mark.start_ns, mark.end_ns, *kind, false});
    // A sample that is read with torch.load is loaded, no checkpoint.
    if (kind || mark.kind == PhaseKind::kDataLoading) covered_until = mark.end_ns;
  }
  for (const int64_t start_ns : NamedEpochStarts(inputs_, thread_)) {
    breaks_.push_back({start_ns, start_ns, StepKind::kEpochStart, true});
  }
  std::stable_sort(breaks_.begin(), breaks_.end(),
                   [](const Break& a, const Break& b) { return a.start_ns < b.start_ns; });
  std::copy_if(breaks_.begin(), breaks_.end(), std::back_inserter(pauses_),
               [](const Break& one) { return !one.of_epoch; });
}

bool LoopTiler::IsBroken(int64_t time_ns) const {
  const auto after = std::partition_point(pauses_.begin(), pauses_.end(), [&](const Break& pause) {
    return pause.start_ns <= time_ns;
  });
  return after != pauses_.begin() && std::prev(after)->end_ns > time_ns;
}

size_t LoopTiler::IterationsWith(const std::vector<IterationEnd>& ends,
                                 bool (*counts)(const Break&)) const {
  size_t with = 0;
  for (size_t i = 1; i < ends.size(); ++i) {
    const std::vector<Break> within = BreaksWithin(ends[i], ends[i - 1].end_ns);
    with += std::any_of(within.begin(), within.end(), counts);
  }
  return with;
}

// A loop that asks for a new DataLoader in each iteration has no epochs; one that validates in each
// (a graph that is trained as a whole) has the validation in it, as its own clock has.
void LoopTiler::DropBreaksOfEveryIteration(const std::vector<IterationEnd>& ends) {
  const auto of_epoch = [](const Break& one) { return one.of_epoch; };
  if (IterationsWith(ends, of_epoch) * 2 > ends.size()) {
    std::erase_if(breaks_, of_epoch);
    loader_starts_.clear();
  }
  const auto validates = [](const Break& one) { return one.kind == StepKind::kValidation; };
  if (IsInEveryStep(IterationsWith(ends, validates), ends.size() - 1)) {
    std::erase_if(breaks_, validates);
  }
}

int64_t LoopTiler::CoreOf(const IterationEnd& end, int64_t from_ns) const {
  return end.is_range ? end.start_ns : std::min(FirstFrom(cores_, from_ns), end.start_ns);
}

// Breaks between the iteration before and this one. What comes behind a backward of this iteration
// (between accumulated gradients, say) is in the middle of it and breaks nothing.
std::vector<LoopTiler::Break> LoopTiler::BreaksWithin(const IterationEnd& end,
                                                      int64_t before_ns) const {
  std::vector<Break> within;
  auto at = std::partition_point(breaks_.begin(), breaks_.end(),
                                 [&](const Break& one) { return one.start_ns < before_ns; });
  const int64_t until_ns =
      end.is_range ? end.start_ns : std::min(FirstFrom(backwards_, before_ns), end.end_ns);
  for (; at != breaks_.end() && at->start_ns < until_ns; ++at) {
    if (at->end_ns <= end.end_ns) within.push_back(*at);
  }
  return within;
}

// What usually lies between the end of an iteration and the first forward of the next.
void LoopTiler::MeasureLead(const std::vector<IterationEnd>& ends) {
  std::vector<int64_t> leads;
  std::vector<size_t> loads;
  size_t loading = 0;
  for (size_t i = 1; i < ends.size(); ++i) {
    const int64_t before_ns = ends[i - 1].end_ns;
    if (ends[i].fresh || !BreaksWithin(ends[i], before_ns).empty()) continue;
    const int64_t core_ns = CoreOf(ends[i], before_ns);
    leads.push_back(std::max<int64_t>(0, core_ns - before_ns));
    loads.push_back(CountWithin(loads_, before_ns, core_ns));
    loading += CountWithin(loads_, before_ns, ends[i].end_ns) > 0;
  }
  has_loads_ = leads.empty() ? !loads_.empty() : loading * 2 > leads.size();
  if (leads.empty()) return;
  usual_lead_ns_ = LowerQuantile(leads, 0.5);
  usual_loads_ = std::max<size_t>(1, UpperQuantile(loads, 0.5));
}

int64_t LoopTiler::OpeningAfter(int64_t from_ns, int64_t core_ns) const {
  const int64_t loader_ns = FirstFrom(loader_starts_, from_ns);
  if (loader_ns < core_ns) return loader_ns;
  const auto first = std::lower_bound(loads_.begin(), loads_.end(), from_ns);
  const auto after = std::lower_bound(first, loads_.end(), std::max(from_ns, core_ns));
  const auto count = static_cast<size_t>(after - first);
  if (count > 0) return *(after - static_cast<ptrdiff_t>(std::min(count, usual_loads_)));
  return std::max(from_ns, core_ns - usual_lead_ns_);
}

int64_t LoopTiler::Start(const IterationEnd& end, int64_t before_ns) const {
  const std::vector<Break> within = BreaksWithin(end, before_ns);
  if (within.empty() && !end.fresh) return before_ns;
  int64_t from_ns = before_ns;
  int64_t epoch_ns = kOpenEnd;
  for (const Break& one : within) {
    if (one.of_epoch) epoch_ns = std::min(epoch_ns, one.start_ns);
    from_ns = std::max(from_ns, one.end_ns);
  }
  // A batch that is asked for before the epoch begins is the end of the one before.
  const bool only_epoch =
      std::all_of(within.begin(), within.end(), [](const Break& one) { return one.of_epoch; });
  if (only_epoch && epoch_ns != kOpenEnd) from_ns = epoch_ns;
  return OpeningAfter(from_ns, CoreOf(end, from_ns));
}

// Nothing ends before the first iteration. With gradient accumulation several loads or forwards
// belong to it: as many as to the second.
int64_t LoopTiler::FirstStart(const std::vector<IterationEnd>& ends) const {
  const IterationEnd& first = ends[0];
  if (first.is_range) {
    return CountWithin(loads_, 0, first.start_ns) == 0
               ? first.start_ns
               : OpeningAfter(loads_.front(), first.start_ns);
  }
  const std::vector<int64_t>& openings = Openings();
  const auto first_end = std::lower_bound(openings.begin(), openings.end(), first.end_ns);
  if (first_end == openings.begin()) return CoreOf(first, INT64_MIN);
  ptrdiff_t each = 1;
  if (ends.size() > 1) {
    const int64_t from_ns = Start(ends[1], first.end_ns);
    const auto second = std::lower_bound(first_end, openings.end(), from_ns);
    const auto second_end = std::lower_bound(second, openings.end(), ends[1].end_ns);
    each = std::max<ptrdiff_t>(1, second_end - second);
  }
  return std::min(first.start_ns, *(first_end - std::min(each, first_end - openings.begin())));
}

void LoopTiler::Tile(const std::vector<IterationEnd>& ends, FoundSteps* found) {
  if (ends.empty()) return;
  DropBreaksOfEveryIteration(ends);
  MeasureLead(ends);
  const CaptureStarts captures(inputs_.store, process_);
  int64_t before_ns = INT64_MIN;
  for (const IterationEnd& end : ends) {
    const std::optional<int64_t> opened = captures.OpenedWithin(before_ns, end.end_ns);
    int64_t start_ns = 0;
    if (opened) {
      // The iteration is whole if the capture saw its beginning. The capture follows the iterations
      // of one process: in another it may have begun in the middle of one, which is left out.
      start_ns = *opened;
      if (!Openings().empty() && FirstFrom(Openings(), *opened) >= end.end_ns) {
        before_ns = end.end_ns;
        continue;
      }
    } else if (before_ns == INT64_MIN) {
      start_ns = FirstStart(ends);
    } else if (const int64_t window_ns = captures.LastWindow(end.start_ns);
               end.is_range && window_ns > before_ns) {
      start_ns = OpeningAfter(window_ns, end.start_ns);  // nothing was seen before that
    } else {
      start_ns = Start(end, before_ns);
    }
    const auto place = static_cast<int64_t>(found->steps.size());
    found->steps.push_back({.start_ns = start_ns,
                            .end_ns = end.end_ns,
                            .number = end.number < 0 ? place : end.number});
    before_ns = end.end_ns;
  }
}

std::vector<int64_t> NamedEpochStarts(const StepInputs& inputs, ThreadId thread) {
  std::vector<int64_t> starts;
  const PhaseCallsTable& calls = inputs.store.phase_calls;
  const ThreadSpans::Rows phases = inputs.phase_rows.Of(thread);
  for (uint32_t row = phases.begin; row < phases.end; ++row) {
    if (calls.phase[row] == Phase::kEpoch) starts.push_back(calls.start_ns[row]);
  }
  const NvtxRangesTable& ranges = inputs.store.nvtx_ranges;
  const ThreadSpans::Rows rows = inputs.range_rows.Of(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (ranges.depth[row] > 2) continue;  // an epoch is around iterations
    const std::string_view name = inputs.store.Text(ranges.message[row]);
    if (name.starts_with("epoch") || name.starts_with("Epoch")) {
      starts.push_back(ranges.start_ns[row]);
    }
  }
  return starts;
}

std::vector<int64_t> EpochStarts(const StepInputs& inputs, ThreadId thread) {
  std::vector<int64_t> starts = NamedEpochStarts(inputs, thread);
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  int64_t evaluates_until_ns = INT64_MIN;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs.marks.all()[row];
    if (IsEvaluation(mark.kind)) evaluates_until_ns = std::max(evaluates_until_ns, mark.end_ns);
    const bool evaluates = mark.start_ns < evaluates_until_ns;  // with a loader of its own
    if (mark.loader_start && !evaluates) starts.push_back(mark.start_ns);
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

}  // namespace batchlight
