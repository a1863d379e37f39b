#include "analysis/steps/step_calls.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analysis/steps/step_key.h"

namespace batchlight {
namespace {

// The thread of the process with most marks of a kind; None if there are none.
ThreadId BusiestThread(const StepInputs& inputs, ProcessId process, PhaseKind kind) {
  ThreadId best;
  size_t most = 0;
  for (const ThreadId thread : inputs.threads_of_process[process.row()]) {
    const size_t count = inputs.marks.Outermost(thread, kind).size();
    if (count > most) {
      most = count;
      best = thread;
    }
  }
  return best;
}

// Where the program itself began to collect because a step had ended there (--steps, --every).
// Collecting from the start of the process on is no such place.
class StepWindows {
 public:
  StepWindows(const Store& store, ProcessId process) {
    if (store.Property("session.step_windows").empty()) return;
    for (const int64_t start_ns : store.capture_windows.start_ns) {
      if (start_ns > store.processes.start_ns[process.row()]) starts_.push_back(start_ns);
    }
    std::sort(starts_.begin(), starts_.end());
  }

  // The last window that opened between the two; nothing if none did.
  std::optional<int64_t> OpenedWithin(int64_t begin_ns, int64_t end_ns) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), end_ns);
    if (after == starts_.begin() || *(after - 1) < begin_ns) return std::nullopt;
    return *(after - 1);
  }

 private:
  std::vector<int64_t> starts_;
};

// Starts of data loading (or, if the loop loads none, of forward) on the thread.
std::vector<int64_t> StepOpenings(const StepInputs& inputs, ThreadId thread) {
  std::vector<int64_t> starts;
  for (const PhaseMark& mark : inputs.marks.Outermost(thread, PhaseKind::kDataLoading)) {
    starts.push_back(mark.start_ns);
  }
  if (!starts.empty()) return starts;
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  int64_t covered_until = INT64_MIN;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs.marks.all()[row];
    if (mark.kind != PhaseKind::kForward || mark.start_ns < covered_until) continue;
    starts.push_back(mark.start_ns);
    covered_until = mark.end_ns;
  }
  return starts;
}

// Nothing ends before the first step: it opens with its first data loading. With gradient
// accumulation there are several in a step: as many as in the second.
int64_t StartOfFirstStep(const StepInputs& inputs, ThreadId thread,
                         const std::vector<PhaseMark>& ends) {
  const std::vector<int64_t> openings = StepOpenings(inputs, thread);
  const auto first_end = std::lower_bound(openings.begin(), openings.end(), ends[0].start_ns);
  if (first_end == openings.begin()) {
    const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {  // a backward without forward
      const PhaseMark& mark = inputs.marks.all()[row];
      if (mark.kind == PhaseKind::kBackward) return std::min(mark.start_ns, ends[0].start_ns);
    }
    return ends[0].start_ns;
  }
  ptrdiff_t each = 1;
  if (ends.size() > 1) {
    const auto second_end = std::lower_bound(first_end, openings.end(), ends[1].start_ns);
    each = std::max<ptrdiff_t>(1, second_end - first_end);
  }
  return *(first_end - std::min(each, first_end - openings.begin()));
}

// Every k-th mark if the names (or the batches between them) repeat with period k.
size_t OptimizersPerStep(const StepInputs& inputs, ThreadId thread,
                         const std::vector<PhaseMark>& marks) {
  std::vector<StringId> distinct;
  for (const PhaseMark& mark : marks) {
    if (std::find(distinct.begin(), distinct.end(), mark.name) == distinct.end()) {
      distinct.push_back(mark.name);
      if (distinct.size() > 8) return 1;
    }
  }
  auto periodic = [&](size_t k) {
    for (size_t i = k; i < marks.size(); ++i) {
      if (marks[i].name != marks[i - k].name) return false;
    }
    return marks.size() >= 2 * k;
  };
  if (distinct.size() > 1 && periodic(distinct.size())) return distinct.size();
  // Two optimizers of one class: as many steps as there are between two batches, if always so.
  const std::vector<int64_t> openings = StepOpenings(inputs, thread);
  size_t per_batch = 0;
  for (size_t i = 0, mark = 0; i + 1 < openings.size(); ++i) {
    size_t count = 0;
    while (mark < marks.size() && marks[mark].start_ns < openings[i]) ++mark;
    for (; mark < marks.size() && marks[mark].start_ns < openings[i + 1]; ++mark) ++count;
    if (count == 0) continue;
    if (per_batch != 0 && count != per_batch) return 1;
    per_batch = count;
  }
  return std::max<size_t>(1, per_batch);
}

// The optimizer steps that end a training step: with several optimizers, those of the last one.
std::vector<PhaseMark> StepEndingOptimizers(const StepInputs& inputs, ThreadId thread) {
  std::vector<PhaseMark> marks = inputs.marks.Outermost(thread, PhaseKind::kOptimizer);
  // What a gradient scaler does besides the step ends nothing: a capture may stop before it.
  std::erase_if(marks, [&](const PhaseMark& mark) {
    const std::string_view name = inputs.store.Text(mark.name);
    return name.starts_with("GradScaler.") && name != "GradScaler.step";
  });
  const size_t each = OptimizersPerStep(inputs, thread, marks);
  std::vector<PhaseMark> ends;
  for (size_t i = each - 1; i < marks.size(); i += each) ends.push_back(marks[i]);
  return ends;
}

// "Optimizer.step#AdamW.step" -> "AdamW.step". Around an optimizer's step there may be a gradient
// scaler's: the name of the last mark inside is the one to show.
std::string OptimizerName(const StepInputs& inputs, ThreadId thread, const Step& step) {
  std::string name;
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs.marks.all()[row];
    if (mark.start_ns >= step.end_ns) break;
    if (mark.kind != PhaseKind::kOptimizer || mark.start_ns < step.start_ns) continue;
    const std::string_view text = inputs.store.Text(mark.name);
    if (name.empty() || !text.starts_with("GradScaler")) name = text;
  }
  const size_t hash = name.find('#');
  return name.starts_with("Optimizer.step#") ? name.substr(hash + 1) : name;
}

}  // namespace

FoundStepsOrNone StepsFromOptimizer(const StepInputs& inputs, ProcessId process) {
  const ThreadId thread = BusiestThread(inputs, process, PhaseKind::kOptimizer);
  if (thread.IsNone()) return {};
  const std::vector<PhaseMark> ends = StepEndingOptimizers(inputs, thread);
  if (ends.empty()) return {};
  FoundSteps found{.source = StepSource::kOptimizer, .thread = thread};
  const StepWindows windows(inputs.store, process);
  const std::vector<int64_t> openings = StepOpenings(inputs, thread);
  int64_t start = INT64_MIN;
  for (const PhaseMark& end : ends) {
    const std::optional<int64_t> window = windows.OpenedWithin(start, end.end_ns);
    if (window) {
      // The step is whole if the window saw its beginning. The window follows the steps of one
      // process: in another it may have opened in the middle of a step, which is then left out.
      const auto opening = std::lower_bound(openings.begin(), openings.end(), *window);
      const bool whole = openings.empty() || (opening != openings.end() && *opening < end.end_ns);
      start = whole ? *window : end.end_ns;
      if (!whole) continue;
    } else if (found.steps.empty() && start == INT64_MIN) {
      start = StartOfFirstStep(inputs, thread, ends);
    }
    found.steps.push_back({.start_ns = start,
                           .end_ns = end.end_ns,
                           .number = static_cast<int64_t>(found.steps.size())});
    start = end.end_ns;
  }
  if (found.steps.empty()) return {};
  found.marker = OptimizerName(inputs, thread, found.steps.front());
  return found;
}

FoundStepsOrNone StepsFromDataLoader(const StepInputs& inputs, ProcessId process) {
  const ThreadId thread = BusiestThread(inputs, process, PhaseKind::kDataLoading);
  if (thread.IsNone()) return {};
  const std::vector<PhaseMark> nexts = inputs.marks.Outermost(thread, PhaseKind::kDataLoading);
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  FoundSteps found{.source = StepSource::kDataLoader,
                   .thread = thread,
                   .marker = std::string(inputs.store.Text(nexts.front().name))};
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
  FoundSteps found{.source = StepSource::kNvtxRange, .thread = ends.front().thread, .marker = key};
  int64_t start = std::max<int64_t>(0, store.processes.start_ns[process.row()]);
  const StepWindows windows(store, process);
  for (const KeyEnd& end : ends) {
    if (end.time_ns <= start) continue;
    start = windows.OpenedWithin(start, end.time_ns).value_or(start);
    found.steps.push_back({.start_ns = start,
                           .end_ns = end.time_ns,
                           .number = static_cast<int64_t>(found.steps.size())});
    start = end.time_ns;
  }
  if (found.steps.empty()) return {};
  return found;
}

}  // namespace batchlight
