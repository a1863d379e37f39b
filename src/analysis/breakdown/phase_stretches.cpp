#include "analysis/breakdown/phase_stretches.h"

#include <algorithm>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/phases/gpu_waits.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

// Inside these, nothing further in changes what the time is for: a transform that is a module is
// still data loading, a forward in a validation is no forward of training.
bool IsSticky(PhaseKind kind) {
  return kind == PhaseKind::kDataLoading || kind == PhaseKind::kCompile || IsEvaluation(kind) ||
         kind == PhaseKind::kCheckpoint;
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

// Domain of the ranges that CUDA's own algorithms (sort, scan, reduce) put around their launches:
// parts of an operator, not of a loop.
constexpr std::string_view kAlgorithmsDomain = "CCCL";

// A stretch of the thread that belongs to one phase. Between segments: nothing says what it is.
struct Segment {
  int64_t start_ns;
  int64_t end_ns;
  PhaseKind kind;
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
      const bool outer_counts = !around.implied || mark.implied || IsEvaluation(around.kind);
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
        segments_.push_back({at_, until, kind});
      }
    }
    at_ = std::max(at_, until);
  }

  std::vector<Segment>& segments_;
  std::vector<Open> open_;
  int64_t at_ = INT64_MIN;
};

// An optimizer's step that calls a closure (Lightning, LBFGS) works itself before the closure and
// after its backward. What lies between forward and backward is the program's: metrics, the loss.
void DropWorkOfClosures(const PhaseMarks& marks, ThreadSpans::Rows rows,
                        std::vector<Segment>& segments) {
  std::vector<TimeSpan> closures;  // from the end of the first forward to backward
  int64_t step_end_ns = INT64_MIN;
  int64_t forward_end_ns = INT64_MAX;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = marks.all()[row];
    if (mark.start_ns >= step_end_ns) {
      step_end_ns = mark.kind == PhaseKind::kOptimizer ? mark.end_ns : INT64_MIN;
      forward_end_ns = INT64_MAX;
    } else if (mark.kind == PhaseKind::kForward || mark.kind == PhaseKind::kLoss) {
      forward_end_ns = std::min(forward_end_ns, mark.end_ns);
    } else if (mark.kind == PhaseKind::kBackward && forward_end_ns < mark.start_ns) {
      closures.push_back({forward_end_ns, mark.start_ns});
      forward_end_ns = INT64_MAX;
    }
  }
  auto closure = closures.begin();
  std::erase_if(segments, [&](const Segment& segment) {
    while (closure != closures.end() && closure->end_ns <= segment.start_ns) ++closure;
    return closure != closures.end() && segment.kind == PhaseKind::kOptimizer &&
           segment.start_ns >= closure->start_ns && segment.end_ns <= closure->end_ns;
  });
}

std::vector<Segment> SegmentsOf(const StepInputs& inputs, ThreadId thread) {
  std::vector<Segment> segments;
  SegmentSweep sweep(segments);
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) sweep.Enter(inputs.marks.all()[row]);
  sweep.Finish();
  DropWorkOfClosures(inputs.marks, rows, segments);
  return segments;
}

class Cutter {
 public:
  Cutter(const StepInputs& inputs, const ProcessSteps& steps, const PhaseStretchVisitor& visit)
      : inputs_(inputs),
        steps_(steps),
        visit_(visit),
        range_rows_(inputs.range_rows.Of(steps.thread)),
        ranges_begun_(range_rows_.begin),
        segments_(SegmentsOf(inputs, steps.thread)),
        waits_(FindGpuWaits(inputs.store, steps.thread)) {}

  void Run() {
    size_t segment = 0;
    for (size_t i = 0; i < steps_.steps.size(); ++i) SplitStep(i, segment);
  }

 private:
  void Emit(size_t step, PhaseKind kind, int64_t from, int64_t to,
            StringId range = StringId::None()) const {
    if (from < to) visit_({static_cast<uint32_t>(step), kind, range, from, to});
  }

  void SplitStep(size_t i, size_t& segment) {
    const Step& step = steps_.steps[i];
    while (segment < segments_.size() && segments_[segment].end_ns <= step.start_ns) ++segment;
    const auto& starts = inputs_.store.nvtx_ranges.start_ns;
    outermost_ =
        static_cast<uint32_t>(std::lower_bound(starts.begin() + range_rows_.begin,
                                               starts.begin() + range_rows_.end, step.start_ns) -
                              starts.begin());
    int64_t at = step.start_ns;
    for (size_t s = segment; s < segments_.size() && segments_[s].start_ns < step.end_ns; ++s) {
      const int64_t from = std::max(segments_[s].start_ns, step.start_ns);
      const int64_t to = std::min(segments_[s].end_ns, step.end_ns);
      SplitUnnamed(i, at, from);
      Emit(i, segments_[s].kind, from, to);
      at = to;
    }
    SplitUnnamed(i, at, step.end_ns);
  }

  // Time that no mark explains belongs to the outermost user range inside the step, else to a wait
  // for the GPU, else to `other`.
  void SplitUnnamed(size_t i, int64_t from, int64_t to) {
    if (from >= to) return;
    const Step& step = steps_.steps[i];
    const NvtxRangesTable& ranges = inputs_.store.nvtx_ranges;
    int64_t at = from;
    while (at < to) {
      FollowRanges(at);
      const uint32_t around = OutermostInStep(at, step);
      int64_t until = to;
      if (around != kNoRow) {
        until = std::min(to, ranges.end_ns[around]);
        Emit(i, PhaseKind::kUserRange, at, until, ranges.message[around]);
      } else {
        if (ranges_begun_ < range_rows_.end) until = std::min(to, ranges.start_ns[ranges_begun_]);
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
      Emit(i, PhaseKind::kOther, at, start);
      Emit(i, wait->kind, start, end);
      at = end;
    }
    Emit(i, PhaseKind::kOther, at, to);
  }

  // Moves ranges_begun_ to the first range that begins after `time`: a few rows further, since
  // steps and the times inside them come in order.
  void FollowRanges(int64_t time) {
    const auto& starts = inputs_.store.nvtx_ranges.start_ns;
    if (ranges_begun_ > range_rows_.begin && starts[ranges_begun_ - 1] > time) {
      const auto first = starts.begin() + range_rows_.begin;
      const auto after = std::upper_bound(first, starts.begin() + range_rows_.end, time);
      ranges_begun_ = static_cast<uint32_t>(after - starts.begin());
    }
    while (ranges_begun_ < range_rows_.end && starts[ranges_begun_] <= time) ++ranges_begun_;
  }

  // Times inside a step come in order: what has ended, or is none, is not looked at again.
  uint32_t OutermostInStep(int64_t time, const Step& step) {
    const auto& ends = inputs_.store.nvtx_ranges.end_ns;
    while (outermost_ < ranges_begun_ &&
           (ends[outermost_] <= time || !IsPartOf(step, outermost_))) {
      ++outermost_;
    }
    return outermost_ < ranges_begun_ ? outermost_ : kNoRow;
  }

  bool IsPartOf(const Step& step, uint32_t row) const {
    const NvtxRangesTable& ranges = inputs_.store.nvtx_ranges;
    const bool inside = ranges.start_ns[row] >= step.start_ns && ranges.end_ns[row] <= step.end_ns;
    const ThreadId end = ranges.end_thread[row];
    const bool of_thread = end.IsNone() || end == ranges.thread[row];
    return inside && of_thread &&
           !IsRangeOfStep(steps_, step, ranges.start_ns[row], ranges.end_ns[row]) &&
           !IsOfAlgorithm(ranges.domain[row]);
  }

  bool IsOfAlgorithm(NvtxDomainId domain) const {
    const Store& store = inputs_.store;
    return !domain.IsNone() &&
           store.Text(store.nvtx_domains.name[domain.row()]) == kAlgorithmsDomain;
  }

  const StepInputs& inputs_;
  const ProcessSteps& steps_;
  const PhaseStretchVisitor& visit_;
  const ThreadSpans::Rows range_rows_;
  uint32_t ranges_begun_;   // row of the first range that has not begun
  uint32_t outermost_ = 0;  // no row before it is a part of the step that still lasts
  std::vector<Segment> segments_;
  std::vector<GpuWait> waits_;
};

}  // namespace

void VisitPhaseStretches(const StepInputs& inputs, const ProcessSteps& steps,
                         const PhaseStretchVisitor& visit) {
  Cutter(inputs, steps, visit).Run();
}

std::string NameWithoutNumbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) text += c;
    if (digit && (text.empty() || text.back() != '#')) text += '#';
  }
  return text;
}

}  // namespace batchlight
