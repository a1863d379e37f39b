#include "analysis/steps/step_calls.h"

#include <algorithm>
#include <optional>

#include "analysis/numbers/quantile.h"
#include "analysis/phases/capture_starts.h"
#include "analysis/steps/loop_tiler.h"
#include "analysis/steps/step_key.h"
#include "analysis/steps/step_updates.h"

namespace batchlight {
namespace {

constexpr double kNearlyAll = 0.9;

// Batches that are trained on: from one next of the DataLoader to the next, where a backward or an
// update lies between (the nexts of two loaders, or of a validation, are none).
std::vector<int64_t> TrainedBatches(const StepInputs& inputs, ThreadId thread,
                                    const std::vector<Update>& updates) {
  std::vector<int64_t> work;
  for (const PhaseMark& mark : inputs.marks.Outermost(thread, PhaseKind::kBackward)) {
    work.push_back(mark.start_ns);
  }
  for (const Update& update : updates) work.push_back(update.start_ns);
  std::sort(work.begin(), work.end());
  std::vector<int64_t> batches;
  const std::vector<PhaseMark> nexts = inputs.marks.Outermost(thread, PhaseKind::kDataLoading);
  for (size_t i = 0; i < nexts.size(); ++i) {
    const auto next_work = std::lower_bound(work.begin(), work.end(), nexts[i].start_ns);
    const bool last = i + 1 == nexts.size();
    if (next_work != work.end() && (last || *next_work < nexts[i + 1].start_ns)) {
      batches.push_back(nexts[i].start_ns);
    }
  }
  return batches;
}

// An inner loop that asks for its batches itself, five of the critic and then a step of the
// generator: every n-th batch has the same more updates than the others. A loop over the batches
// that updates the second optimizer now and then does so in its first (i % n == 0), or at no fixed
// distance.
bool AreOfInnerLoops(const std::vector<size_t>& counts) {
  std::vector<size_t> ordered = counts;
  const size_t usual = LowerQuantile(ordered, 0.5);
  std::vector<size_t> more;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != usual) more.push_back(i);
  }
  if (more.size() < 3) return false;
  const size_t every = more.front() + 1;
  size_t regular = 0;
  for (size_t i = 0; i < more.size(); ++i) {
    regular += more[i] + 1 == every * (i + 1) && counts[more[i]] == counts[more.front()];
  }
  return every >= 2 && counts[more.front()] > usual &&
         double(regular) >= kNearlyAll * double(more.size());
}

// Where a DataLoader feeds the loop and nearly every batch is trained on by several updates, or by
// several optimizers, a batch is an iteration: the last update of each. Nothing: not so.
std::optional<UpdatePattern> PatternOfBatches(const StepInputs& inputs, ThreadId thread,
                                              const std::vector<Update>& updates) {
  const std::vector<int64_t> batches = TrainedBatches(inputs, thread, updates);
  if (batches.size() < 2) return {};
  const bool one_owner = std::all_of(updates.begin(), updates.end(), [&](const Update& one) {
    return one.owner == updates.front().owner;
  });
  UpdatePattern pattern;
  std::vector<size_t> counts;
  size_t row = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    const int64_t until_ns = i + 1 < batches.size() ? batches[i + 1] : INT64_MAX;
    const size_t first = row;
    while (row < updates.size() && updates[row].start_ns < until_ns) ++row;
    if (row > first) pattern.ends.push_back(row - 1);
    counts.push_back(row - first);
  }
  if (double(pattern.ends.size()) < kNearlyAll * double(batches.size())) return {};
  if (!one_owner && AreOfInnerLoops(counts)) return {};
  const size_t usual = UpperQuantile(counts, 0.5);  // reorders them
  const auto regular = std::count(counts.begin(), counts.end(), usual);
  const bool even = double(regular) >= kNearlyAll * double(counts.size());
  if (one_owner && (usual < 2 || !even)) return {};
  pattern.fresh.resize(pattern.ends.size());
  for (const size_t start : ModelStarts(updates)) {
    const auto end = std::lower_bound(pattern.ends.begin(), pattern.ends.end(), start);
    if (end != pattern.ends.end()) {
      pattern.fresh[static_cast<size_t>(end - pattern.ends.begin())] = true;
    }
  }
  return pattern;
}

// How many backwards, each of a batch or forward of its own, an iteration sums up.
uint32_t MicroBatches(const StepInputs& inputs, const FoundSteps& found) {
  const bool loads = !inputs.marks.Outermost(found.thread, PhaseKind::kDataLoading).empty();
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(found.thread);
  std::vector<size_t> counts;
  uint32_t row = rows.begin;
  for (const Step& step : found.steps) {
    size_t count = 0;
    bool new_batch = true;
    int64_t updates_until_ns = INT64_MIN;  // a closure runs backward inside of the optimizer's step
    for (; row < rows.end && inputs.marks.all()[row].start_ns < step.end_ns; ++row) {
      const PhaseMark& mark = inputs.marks.all()[row];
      if (mark.start_ns < step.start_ns || mark.start_ns < updates_until_ns) continue;
      if (mark.kind == PhaseKind::kOptimizer) updates_until_ns = mark.end_ns;
      new_batch |= mark.kind == (loads ? PhaseKind::kDataLoading : PhaseKind::kForward);
      // torch.autograd.grad: a penalty of the loss, not a batch.
      const bool sums_up =
          mark.kind == PhaseKind::kBackward && !inputs.store.Text(mark.name).ends_with(".grad");
      if (!sums_up || !new_batch) continue;
      ++count;
      new_batch = false;
    }
    counts.push_back(count);
  }
  return static_cast<uint32_t>(std::max<size_t>(1, LowerQuantile(counts, 0.5)));
}

std::string PatternText(const Store& store, const UpdatePattern& pattern) {
  size_t total = 0;
  for (const UpdatePattern::Part& part : pattern.parts) total += part.count;
  std::string text = "; an iteration is " + std::to_string(total) + " optimizer steps: ";
  constexpr size_t kMost = 4;
  for (size_t i = 0; i < std::min(pattern.parts.size(), kMost); ++i) {
    const UpdatePattern::Part& part = pattern.parts[i];
    if (i > 0) text += ", ";
    if (part.count > 1) text += std::to_string(part.count) + " of ";
    text += QuotedName(OptimizerName(store.Text(part.name)));
  }
  return text + (pattern.parts.size() > kMost ? ", ..." : "");
}

}  // namespace

FoundStepsOrNone StepsFromOptimizer(const StepInputs& inputs, ProcessId process) {
  const ThreadId thread = BusiestThread(inputs, process, PhaseKind::kOptimizer);
  if (thread.IsNone()) return {};
  const std::vector<Update> updates = OptimizerUpdates(inputs, thread);
  if (updates.empty()) return {};
  const std::optional<UpdatePattern> batches = PatternOfBatches(inputs, thread, updates);
  const UpdatePattern pattern = batches ? *batches : FindUpdatePattern(updates);
  FoundSteps found{.source = StepSource::kOptimizer, .thread = thread};
  LoopTiler(inputs, process, thread).Tile(EndsOf(updates, pattern), &found);
  if (found.steps.empty()) return {};
  found.marker = OptimizerName(inputs.store.Text(updates[pattern.ends.front()].name));
  const std::string marker = QuotedName(found.marker);
  if (batches) {
    found.how = "one for each batch of the DataLoader, to the end of its last " + marker;
    return found;
  }
  found.how = "from the end of " + marker + " to the next";
  if (!pattern.parts.empty()) {
    found.how += PatternText(inputs.store, pattern);
    return found;
  }
  found.micro_batches = MicroBatches(inputs, found);
  if (found.micro_batches > 1) {
    found.how += "; " + std::to_string(found.micro_batches) + " micro-batches each";
  }
  return found;
}

FoundStepsOrNone StepsFromBackward(const StepInputs& inputs, ProcessId process) {
  const ThreadId thread = BusiestThread(inputs, process, PhaseKind::kBackward);
  if (thread.IsNone()) return {};
  const std::vector<Update> updates = BackwardUpdates(inputs, thread);
  if (updates.size() < 2) return {};
  const std::optional<UpdatePattern> batches = PatternOfBatches(inputs, thread, updates);
  UpdatePattern pattern = batches ? *batches : FindUpdatePattern(updates);
  FoundSteps found{.source = StepSource::kBackward,
                   .thread = thread,
                   .marker = std::string(inputs.store.Text(updates.front().name)),
                   .how = "from the end of one backward to the next (no optimizer step was seen)"};
  LoopTiler(inputs, process, thread).Tile(EndsOf(updates, pattern), &found);
  if (found.steps.empty()) return {};
  return found;
}

FoundStepsOrNone StepsFromDataLoader(const StepInputs& inputs, ProcessId process) {
  const ThreadId thread = BusiestThread(inputs, process, PhaseKind::kDataLoading);
  if (thread.IsNone()) return {};
  const std::vector<PhaseMark> nexts = inputs.marks.Outermost(thread, PhaseKind::kDataLoading);
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  FoundSteps found{
      .source = StepSource::kDataLoader,
      .thread = thread,
      .marker = std::string(inputs.store.Text(nexts.front().name)),
      .how = "from one batch of the DataLoader to the next (no optimizer step was seen)"};
  uint32_t mark = rows.begin;
  for (size_t i = 0; i + 1 < nexts.size(); ++i) {
    // From the last next of an epoch to the first of the next one is not a step.
    bool new_loader = false;
    for (; mark < rows.end && inputs.marks.all()[mark].start_ns < nexts[i + 1].start_ns; ++mark) {
      const PhaseMark& between = inputs.marks.all()[mark];
      new_loader |= between.loader_start && between.start_ns >= nexts[i].start_ns;
    }
    if (new_loader) continue;
    found.steps.push_back({.start_ns = nexts[i].start_ns,
                           .end_ns = nexts[i + 1].start_ns,
                           .number = static_cast<int64_t>(found.steps.size())});
  }
  if (found.steps.empty()) return {};
  return found;
}

FoundStepsOrNone StepsFromKey(const StepInputs& inputs, ProcessId process, const std::string& key) {
  const Store& store = inputs.store;
  std::vector<KeyEnd> ends = EndsOfKey(inputs, process, key);
  if (ends.empty()) return {};
  std::sort(ends.begin(), ends.end(),
            [](const KeyEnd& a, const KeyEnd& b) { return a.time_ns < b.time_ns; });
  FoundSteps found{
      .source = StepSource::kNvtxRange,
      .thread = ends.front().thread,
      .marker = key,
      .how = "from the end of " + QuotedName(key) + " to the next, as --step-key says"};
  int64_t start = std::max<int64_t>(0, store.processes.start_ns[process.row()]);
  const CaptureStarts captures(store, process);
  for (const KeyEnd& end : ends) {
    if (end.time_ns <= start) continue;
    start = captures.OpenedWithin(start, end.time_ns).value_or(start);
    found.steps.push_back({.start_ns = start,
                           .end_ns = end.time_ns,
                           .number = static_cast<int64_t>(found.steps.size())});
    start = end.time_ns;
  }
  if (found.steps.empty()) return {};
  return found;
}

}  // namespace batchlight
