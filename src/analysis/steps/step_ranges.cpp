#include "analysis/steps/step_ranges.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/steps/loop_tiler.h"
#include "analysis/steps/step_range_names.h"

namespace batchlight {
namespace {

struct RangeGroup {
  std::string base;
  std::string example;  // a name as the user wrote it
  bool step_like = false;
  std::vector<uint32_t> rows;  // of the nvtx_ranges; outermost of the group, none overlap
  std::vector<int64_t> numbers;
  size_t overlapping = 0;  // left out: they begin in one of the rows and end after it
  int64_t total_ns = 0;
  size_t with_optimizer = 0;  // ranges that hold at least one optimizer step
  size_t optimizers = 0;      // held by all of them
  size_t with_other_phase = 0;
};

class RangeGroups {
 public:
  RangeGroups(const StepInputs& inputs, ThreadId thread)
      : inputs_(inputs), optimizers_(inputs.marks.Outermost(thread, PhaseKind::kOptimizer)) {
    NameRangesAroundOptimizers(thread);
    const ThreadSpans::Rows rows = inputs.range_rows.Of(thread);
    for (uint32_t row = rows.begin; row < rows.end; ++row) Add(row);
    for (RangeGroup& group : groups_) CountPhases(group, thread);
  }

  const RangeGroup* Best() const {
    const RangeGroup* best = nullptr;
    for (const RangeGroup& group : groups_) {
      if (Score(group) == 0) continue;
      if (best == nullptr || Score(group) > Score(*best) ||
          (Score(group) == Score(*best) && group.total_ns > best->total_ns)) {
        best = &group;
      }
    }
    return best;
  }

 private:
  // Group of a name; -1 if it is of no interest.
  int32_t GroupOf(StringId message, bool create) {
    if (message.IsNone()) return -1;
    const auto known = group_of_message_.find(message);
    if (known != group_of_message_.end() && (known->second >= 0 || !create)) return known->second;
    const std::string_view text = inputs_.store.Text(message);
    const RangeName name = SplitRangeName(text);
    int32_t found = -1;
    const auto same = group_of_base_.find(name.base);
    if (same != group_of_base_.end()) {
      found = same->second;
    } else if (create || IsStepRangeName(name.base)) {
      found = static_cast<int32_t>(groups_.size());
      groups_.push_back({.base = name.base,
                         .example = std::string(text),
                         .step_like = IsStepRangeName(name.base)});
      group_of_base_[name.base] = found;
    }
    group_of_message_[message] = found;
    return found;
  }

  // Any range around an optimizer step may be a step, whatever its name, unless the name says that
  // it is something else.
  void NameRangesAroundOptimizers(ThreadId thread) {
    const NvtxRangesTable& ranges = inputs_.store.nvtx_ranges;
    for (const PhaseMark& step : optimizers_) {
      uint32_t row = inputs_.ranges.Innermost(thread, step.start_ns);
      for (; row != kNoRow; row = inputs_.ranges.Outer(row, step.start_ns)) {
        const std::string_view name = inputs_.store.Text(ranges.message[row]);
        if (PhaseOfRangeName(name) == PhaseKind::kOther) GroupOf(ranges.message[row], true);
      }
    }
  }

  void Add(uint32_t row) {
    const NvtxRangesTable& ranges = inputs_.store.nvtx_ranges;
    if (ranges.end_ns[row] == kOpenEnd || ranges.end_ns[row] < ranges.start_ns[row]) return;
    if (!ranges.end_thread[row].IsNone() && ranges.end_thread[row] != ranges.thread[row]) return;
    const int32_t index = GroupOf(ranges.message[row], false);
    if (index < 0) return;
    RangeGroup& group = groups_[static_cast<size_t>(index)];
    if (!group.rows.empty() && ranges.start_ns[row] < ranges.end_ns[group.rows.back()]) {
      if (ranges.end_ns[row] > ranges.end_ns[group.rows.back()]) ++group.overlapping;
      return;
    }
    group.rows.push_back(row);
    group.numbers.push_back(SplitRangeName(inputs_.store.Text(ranges.message[row])).number);
    group.total_ns += ranges.end_ns[row] - ranges.start_ns[row];
  }

  void CountPhases(RangeGroup& group, ThreadId thread) {
    const NvtxRangesTable& ranges = inputs_.store.nvtx_ranges;
    const ThreadSpans::Rows marks = inputs_.marks.RowsOf(thread);
    size_t step = 0;
    uint32_t mark = marks.begin;
    for (const uint32_t row : group.rows) {
      const int64_t start = ranges.start_ns[row];
      const int64_t end = ranges.end_ns[row];
      while (step < optimizers_.size() && optimizers_[step].start_ns < start) ++step;
      const size_t before = group.optimizers;
      for (; step < optimizers_.size() && optimizers_[step].start_ns < end; ++step) {
        ++group.optimizers;
      }
      group.with_optimizer += group.optimizers > before;
      bool other = false;
      for (; mark < marks.end && inputs_.marks.all()[mark].start_ns < end; ++mark) {
        const PhaseKind kind = inputs_.marks.all()[mark].kind;
        other |= inputs_.marks.all()[mark].start_ns >= start && !IsOfOptimizer(kind);
      }
      group.with_other_phase += other;
    }
  }

  // 0: not steps.
  int Score(const RangeGroup& group) const {
    const size_t count = group.rows.size();
    if (count == 0) return 0;
    const bool holds_optimizer = group.with_optimizer * 10 >= count * 8;
    if (group.step_like) {
      if (!optimizers_.empty() && group.with_optimizer == 0) return 0;  // another loop's
      return 2 + (holds_optimizer ? 2 : 0) + (count > 1 ? 1 : 0);
    }
    const bool one_each = group.optimizers * 2 <= group.with_optimizer * 3;
    const bool holds_others = group.with_other_phase * 10 >= count * 8;
    return count >= 3 && holds_optimizer && one_each && holds_others ? 1 : 0;
  }

  const StepInputs& inputs_;
  std::vector<PhaseMark> optimizers_;
  std::vector<RangeGroup> groups_;
  std::unordered_map<StringId, int32_t> group_of_message_;
  std::unordered_map<std::string, int32_t> group_of_base_;
};

// "ProfilerStep#12" -> "ProfilerStep#": the name without the number, as the user wrote it.
std::string MarkerOf(const RangeGroup& group, bool numbered) {
  if (!numbered) return group.example;
  const size_t digit = group.example.find_last_not_of("0123456789");
  std::string marker = group.example.substr(0, digit == std::string::npos ? 0 : digit + 1);
  while (!marker.empty() && marker.back() == ' ') marker.pop_back();
  return marker;
}

// "Step 12" -> "step"
std::string WithoutNumber(std::string_view name) {
  std::string base = SplitRangeName(name).base;
  while (!base.empty() && (base.back() == '#' || base.back() == '_')) base.pop_back();
  return base;
}

std::string OverlapText(size_t overlapping) {
  if (overlapping == 0) return "";
  return "; " + std::to_string(overlapping) +
         " of that name begin before the one before ends and are left out";
}

FoundSteps StepsOf(const StepInputs& inputs, ProcessId process, ThreadId thread,
                   const RangeGroup& group) {
  const NvtxRangesTable& ranges = inputs.store.nvtx_ranges;
  bool numbered = group.numbers.front() >= 0;
  for (size_t i = 1; i < group.numbers.size(); ++i) {
    numbered &= group.numbers[i] > group.numbers[i - 1];
  }
  std::vector<IterationEnd> ends;
  for (size_t i = 0; i < group.rows.size(); ++i) {
    ends.push_back({.end_ns = ranges.end_ns[group.rows[i]],
                    .start_ns = ranges.start_ns[group.rows[i]],
                    .number = numbered ? group.numbers[i] : -1,
                    .is_range = true});
  }
  FoundSteps found{.source = StepSource::kNvtxRange,
                   .thread = thread,
                   .marker = MarkerOf(group, group.numbers.front() >= 0)};
  LoopTiler(inputs, process, thread).Tile(ends, &found);
  int64_t outside_ns = -group.total_ns;
  for (const Step& step : found.steps) outside_ns += step.duration_ns();
  const bool covers = outside_ns * 50 < group.total_ns;
  found.how = (covers ? "from the NVTX range " : "from the end of the NVTX range ") +
              QuotedName(found.marker) + (covers ? "" : " to the next") +
              OverlapText(group.overlapping);
  return found;
}

}  // namespace

FoundStepsOrNone StepsFromRanges(const StepInputs& inputs, ProcessId process) {
  FoundStepsOrNone best;
  size_t most = 0;
  for (const ThreadId thread : inputs.threads_of_process[process.row()]) {
    if (inputs.range_rows.Of(thread).empty()) continue;
    const RangeGroups groups(inputs, thread);
    const RangeGroup* group = groups.Best();
    if (group == nullptr || group->rows.size() <= most) continue;
    most = group->rows.size();
    best = StepsOf(inputs, process, thread, *group);
    if (best->steps.empty()) best.reset();
  }
  return best;
}

FoundStepsOrNone StepsFromRange(const StepInputs& inputs, ProcessId process,
                                const std::string& name) {
  const NvtxRangesTable& ranges = inputs.store.nvtx_ranges;
  const StringId exact = inputs.store.strings.Find(name);
  const std::string base = WithoutNumber(name);
  FoundStepsOrNone best;
  for (const ThreadId thread : inputs.threads_of_process[process.row()]) {
    FoundSteps found{.source = StepSource::kNvtxRange,
                     .thread = thread,
                     .marker = name,
                     .how = "the range " + QuotedName(name) + " itself, as --step-range says"};
    const ThreadSpans::Rows rows = inputs.range_rows.Of(thread);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const StringId message = ranges.message[row];
      if (message.IsNone() || ranges.end_ns[row] == kOpenEnd) continue;
      // "step" stands for "step 12" as well, where there is no "step" as such.
      const bool same =
          exact.IsNone() ? WithoutNumber(inputs.store.Text(message)) == base : message == exact;
      if (!same) continue;
      if (!found.steps.empty() && ranges.start_ns[row] < found.steps.back().end_ns) continue;
      found.steps.push_back({.start_ns = ranges.start_ns[row],
                             .end_ns = ranges.end_ns[row],
                             .number = static_cast<int64_t>(found.steps.size())});
    }
    if (!found.steps.empty() && (!best || found.steps.size() > best->steps.size())) {
      best = std::move(found);
    }
  }
  return best;
}

}  // namespace batchlight
