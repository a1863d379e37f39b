#include "analysis/step_breakdown.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/gpu_waits.h"
#include "analysis/phase_marks.h"
#include "analysis/step_finders.h"

namespace batchlight {
namespace {

constexpr size_t kMostUserRanges = 8;

// Inside these, nothing further in changes what the time is for: a transform that is a module is
// still data loading, a forward in a validation is no forward of training.
bool IsSticky(PhaseKind kind) {
  return kind == PhaseKind::kDataLoading || kind == PhaseKind::kCompile ||
         kind == PhaseKind::kValidation || kind == PhaseKind::kCheckpoint;
}

// The forward of activation checkpointing inside a backward is part of what the backward costs.
bool StaysOuter(PhaseKind outer, const PhaseMark& inner) {
  if (IsSticky(outer)) return true;
  return outer == PhaseKind::kBackward &&
         (inner.kind == PhaseKind::kForward || inner.kind == PhaseKind::kLoss ||
          inner.kind == PhaseKind::kCopyToDevice);
}

// A forward that only its module shows says something new in an optimizer's step alone: there the
// step calls a closure (Lightning, LBFGS) that runs forward and backward.
bool StaysImplied(PhaseKind outer, const PhaseMark& inner) {
  return inner.implied && outer != PhaseKind::kOptimizer;
}

// A stretch of the thread that belongs to one phase. Between segments: nothing says what it is.
struct Segment {
  int64_t start_ns;
  int64_t end_ns;
  PhaseKind kind;
  StringId name;  // of a user range
};

// Cuts the thread's marks into segments that do not overlap, by the rules of the header.
class SegmentSweep {
 public:
  explicit SegmentSweep(std::vector<Segment>& segments) : segments_(segments) {}

  void Enter(const PhaseMark& mark) {
    LeaveUntil(mark.start_ns);
    PhaseKind kind = mark.kind;
    if (!open_.empty()) {
      const Open& around = open_.back();
      const bool outer_counts = !around.implied || mark.implied;
      if (outer_counts && (StaysOuter(around.kind, mark) || StaysImplied(around.kind, mark)))
        kind = around.kind;
      Emit(mark.start_ns);
    }
    open_.push_back({mark.end_ns, kind, mark.implied && (open_.empty() || open_.back().implied)});
    at_ = mark.start_ns;
  }
  void Finish() { LeaveUntil(INT64_MAX); }

 private:
  struct Open {
    int64_t end_ns;
    PhaseKind kind;
    bool implied;
  };

  void LeaveUntil(int64_t time) {
    while (!open_.empty() && open_.back().end_ns <= time) {
      Emit(open_.back().end_ns);
      open_.pop_back();
    }
  }

  // The time since at_ belongs to the innermost open mark.
  void Emit(int64_t until) {
    if (until > at_) {
      const PhaseKind kind = open_.back().kind;
      if (!segments_.empty() && segments_.back().end_ns == at_ && segments_.back().kind == kind) {
        segments_.back().end_ns = until;
      } else {
        segments_.push_back({at_, until, kind, StringId::None()});
      }
    }
    at_ = std::max(at_, until);
  }

  std::vector<Segment>& segments_;
  std::vector<Open> open_;
  int64_t at_ = INT64_MIN;
};

std::vector<Segment> SegmentsOf(const StepInputs& inputs, ThreadId thread) {
  std::vector<Segment> segments;
  SegmentSweep sweep(segments);
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) sweep.Enter(inputs.marks.all()[row]);
  sweep.Finish();
  return segments;
}

// "augment 17" -> "augment #": ranges that differ by a number only are one phase.
std::string WithoutNumbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) text += c;
    if (digit && (text.empty() || text.back() != '#')) text += '#';
  }
  return text;
}

class Breakdown {
 public:
  Breakdown(const StepInputs& inputs, const ProcessSteps& steps)
      : inputs_(inputs),
        steps_(steps),
        segments_(SegmentsOf(inputs, steps.thread)),
        waits_(FindGpuWaits(inputs.store, steps.thread)) {
    totals_.assign(static_cast<size_t>(PhaseKind::kOther) + 1,
                   std::vector<int64_t>(steps.steps.size()));
  }

  StepBreakdown Run() {
    size_t segment = 0;
    for (size_t i = 0; i < steps_.steps.size(); ++i) SplitStep(i, segment);
    KeepLargestUserRanges();
    return Collect();
  }

 private:
  std::vector<int64_t>& Of(PhaseKind kind) { return totals_[static_cast<size_t>(kind)]; }

  void SplitStep(size_t i, size_t& segment) {
    const Step& step = steps_.steps[i];
    while (segment < segments_.size() && segments_[segment].end_ns <= step.start_ns) ++segment;
    int64_t at = step.start_ns;
    for (size_t s = segment; s < segments_.size() && segments_[s].start_ns < step.end_ns; ++s) {
      const int64_t from = std::max(segments_[s].start_ns, step.start_ns);
      const int64_t to = std::min(segments_[s].end_ns, step.end_ns);
      SplitUnnamed(i, at, from);
      Of(segments_[s].kind)[i] += to - from;
      at = to;
    }
    SplitUnnamed(i, at, step.end_ns);
  }

  // Time that no mark explains: to the outermost range of the user that lies inside the step, the
  // rest to waits for the GPU, what then is left to `other`.
  void SplitUnnamed(size_t i, int64_t from, int64_t to) {
    if (from >= to) return;
    const Step& step = steps_.steps[i];
    const NvtxRangesTable& ranges = inputs_.store.nvtx_ranges;
    int64_t at = from;
    uint32_t row = NextRange(from);
    const ThreadSpans::Rows rows = inputs_.range_rows.Of(steps_.thread);
    while (at < to) {
      const uint32_t around = OutermostInStep(at, step);
      int64_t until = to;
      if (around != kNoRow) {
        until = std::min(to, ranges.end_ns[around]);
        AddUserTime(ranges.message[around], static_cast<uint32_t>(i), until - at);
      } else {
        while (row < rows.end && ranges.start_ns[row] <= at) ++row;
        if (row < rows.end) until = std::min(to, ranges.start_ns[row]);
        SplitUnranged(i, at, until);
      }
      at = until;
    }
  }

  void SplitUnranged(size_t i, int64_t from, int64_t to) {
    auto wait = std::upper_bound(waits_.begin(), waits_.end(), from,
                                 [](int64_t time, const GpuWait& w) { return time < w.end_ns; });
    int64_t at = from;
    for (; wait != waits_.end() && wait->start_ns < to; ++wait) {
      const int64_t start = std::max(wait->start_ns, at);
      const int64_t end = std::min(wait->end_ns, to);
      Of(PhaseKind::kOther)[i] += start - at;
      Of(wait->kind)[i] += end - start;
      at = end;
    }
    Of(PhaseKind::kOther)[i] += to - at;
  }

  uint32_t NextRange(int64_t time) const {
    const ThreadSpans::Rows rows = inputs_.range_rows.Of(steps_.thread);
    const auto& starts = inputs_.store.nvtx_ranges.start_ns;
    return static_cast<uint32_t>(
        std::lower_bound(starts.begin() + rows.begin, starts.begin() + rows.end, time) -
        starts.begin());
  }

  uint32_t OutermostInStep(int64_t time, const Step& step) const {
    const NvtxRangesTable& ranges = inputs_.store.nvtx_ranges;
    uint32_t found = kNoRow;
    uint32_t row = inputs_.ranges.Innermost(steps_.thread, time);
    for (; row != kNoRow; row = inputs_.ranges.Outer(row, time)) {
      const bool inside =
          ranges.start_ns[row] >= step.start_ns && ranges.end_ns[row] <= step.end_ns;
      const bool is_step =
          ranges.start_ns[row] == step.start_ns && ranges.end_ns[row] == step.end_ns;
      if (inside && !is_step) found = row;
    }
    return found;
  }

  // Only the steps in which a range occurs are kept, since there may be as many names as steps.
  void AddUserTime(StringId message, uint32_t step, int64_t ns) {
    const auto [known, unseen] = user_of_message_.try_emplace(message, 0);
    if (unseen) {
      std::string name = WithoutNumbers(inputs_.store.Text(message));
      const auto [slot, added] = user_of_name_.try_emplace(name, user_.size());
      if (added) user_.push_back({.name = std::move(name)});
      known->second = slot->second;
    }
    UserRangeTime& range = user_[known->second];
    range.total_ns += ns;
    if (!range.times.empty() && range.times.back().first == step) {
      range.times.back().second += ns;
    } else {
      range.times.emplace_back(step, ns);
    }
  }

  void KeepLargestUserRanges() {
    std::stable_sort(user_.begin(), user_.end(),
                     [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
    for (size_t u = kMostUserRanges; u < user_.size(); ++u) {
      for (const auto& [step, ns] : user_[u].times) Of(PhaseKind::kOther)[step] += ns;
    }
    if (user_.size() > kMostUserRanges) user_.resize(kMostUserRanges);
  }

  StepBreakdown Collect() {
    StepBreakdown result{.process = steps_.process};
    for (const uint32_t i : steps_.steady) {
      result.steady_total_ns += steps_.steps[i].duration_ns();
    }
    for (size_t kind = 0; kind < totals_.size(); ++kind) {
      if (static_cast<PhaseKind>(kind) == PhaseKind::kUserRange) {
        for (UserRangeTime& range : user_) {
          std::vector<int64_t> per_step(steps_.steps.size());
          for (const auto& [step, ns] : range.times) per_step[step] += ns;
          Add(result, PhaseKind::kUserRange, std::move(range.name), std::move(per_step));
        }
        continue;
      }
      Add(result, static_cast<PhaseKind>(kind),
          std::string(PhaseKindName(static_cast<PhaseKind>(kind))), std::move(totals_[kind]));
    }
    return result;
  }

  void Add(StepBreakdown& result, PhaseKind kind, std::string name,
           std::vector<int64_t> per_step) const {
    if (std::all_of(per_step.begin(), per_step.end(), [](int64_t ns) { return ns == 0; })) return;
    PhaseShare share{.kind = kind, .name = std::move(name)};
    std::vector<int64_t> steady;
    for (const uint32_t i : steps_.steady) steady.push_back(per_step[i]);
    share.steady = Summarize(std::move(steady));
    share.share = result.steady_total_ns == 0
                      ? 0
                      : double(share.steady.total) / double(result.steady_total_ns);
    share.per_step_ns = std::move(per_step);
    result.phases.push_back(std::move(share));
  }

  struct UserRangeTime {
    std::string name;
    int64_t total_ns = 0;
    std::vector<std::pair<uint32_t, int64_t>> times;  // step, ns
  };

  const StepInputs& inputs_;
  const ProcessSteps& steps_;
  std::vector<Segment> segments_;
  std::vector<GpuWait> waits_;
  std::vector<std::vector<int64_t>> totals_;  // by PhaseKind, then step
  std::vector<UserRangeTime> user_;
  std::unordered_map<StringId, size_t> user_of_message_;
  std::unordered_map<std::string, size_t> user_of_name_;
};

}  // namespace

std::vector<StepExcess> ExplainStep(const StepBreakdown& breakdown, size_t step) {
  std::vector<StepExcess> found;
  for (uint32_t i = 0; i < breakdown.phases.size(); ++i) {
    const PhaseShare& phase = breakdown.phases[i];
    const int64_t excess = phase.per_step_ns[step] - phase.steady.median;
    if (excess > 0) found.push_back({i, excess});
  }
  std::sort(found.begin(), found.end(),
            [](const StepExcess& a, const StepExcess& b) { return a.excess_ns > b.excess_ns; });
  std::erase_if(
      found, [&](const StepExcess& one) { return one.excess_ns * 10 < found.front().excess_ns; });
  return found;
}

std::vector<StepBreakdown> BreakDownSteps(const StepInputs& inputs, const StepSet& steps) {
  std::vector<StepBreakdown> breakdowns;
  for (const ProcessSteps& process : steps.processes) {
    breakdowns.push_back(Breakdown(inputs, process).Run());
  }
  return breakdowns;
}

std::vector<StepBreakdown> BreakDownSteps(const Store& store, const StepSet& steps) {
  return BreakDownSteps(StepInputs(store), steps);
}

}  // namespace batchlight
