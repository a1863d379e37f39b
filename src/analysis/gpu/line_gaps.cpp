#include "analysis/gpu/line_gaps.h"

#include <set>

#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/gpu/gpu_idle.h"
#include "analysis/lines/line_parts.h"
#include "analysis/owners/backward_links.h"
#include "analysis/phases/gpu_waits.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// Which line a thread is in at a moment.
class LinesOfThreads {
 public:
  LinesOfThreads(const Store& store, const BackwardLinks& links)
      : store_(store),
        lines_(store),
        finder_(store, links, lines_),
        call_stacks_(store),
        calls_(store.api_calls.thread, store.api_calls.start_ns, store.api_calls.end_ns),
        operators_(store.operator_calls.thread, store.operator_calls.start_ns,
                   store.operator_calls.end_ns),
        samples_(store.python_samples.thread, store.python_samples.start_ns,
                 store.python_samples.end_ns) {}

  LinePart At(ThreadId thread, int64_t time_ns) const {
    PythonStackId called;
    for (uint32_t call = calls_.Innermost(thread, time_ns); call != kNoRow && called.IsNone();
         call = calls_.Outer(call, time_ns)) {
      called = call_stacks_.Of(ApiCallId::At(call));
    }
    const uint32_t op = operators_.Innermost(thread, time_ns);
    if (op != kNoRow || !called.IsNone()) {
      return finder_.OfWork({.op = op == kNoRow ? OperatorCallId() : OperatorCallId::At(op)},
                            called);
    }
    const uint32_t sample = samples_.Innermost(thread, time_ns);
    if (sample == kNoRow) return {};
    return finder_.OfWork({}, store_.python_samples.python_stack[sample]);
  }

  PythonFrameId FrameOf(const LinePart& part) const {
    return part.stack.IsNone() ? PythonFrameId() : lines_.Of(part.stack).frame;
  }

 private:
  const Store& store_;
  StackLines lines_;
  LineFinder finder_;
  CallStacks call_stacks_;
  IntervalIndex calls_;
  IntervalIndex operators_;
  IntervalIndex samples_;
};

class GapMeasurer {
 public:
  GapMeasurer(const StepInputs& inputs, const BackwardLinks& links)
      : inputs_(inputs), store_(inputs.store), threads_(store_, links) {}

  void AddIdle() {
    const GpuIdleExplainer explainer(inputs_);
    VisitIdleGaps(store_, [&](int64_t from_ns, int64_t to_ns, ApiCallId call) {
      AddGap(explainer, from_ns, to_ns, call);
    });
  }

  void AddWaits() {
    const std::vector<ThreadId>& column = store_.api_calls.thread;
    for (const ThreadId thread : std::set<ThreadId>(column.begin(), column.end())) {
      if (thread.IsNone()) continue;
      for (const GpuWait& wait : FindGpuWaits(store_, thread)) {
        if (wait.kind != PhaseKind::kGpuWait) continue;
        GapOf(threads_.At(thread, wait.start_ns)).wait_ns += wait.end_ns - wait.start_ns;
      }
    }
  }

  std::map<LineKey, LineGap> Take() { return std::move(gaps_); }

 private:
  void AddGap(const GpuIdleExplainer& explainer, int64_t from_ns, int64_t to_ns, ApiCallId call) {
    const ThreadId launcher = store_.api_calls.thread[call.row()];
    const LinePart launched = threads_.At(launcher, store_.api_calls.start_ns[call.row()]);
    explainer.Explain(from_ns, to_ns, call, [&](const IdleStretch& idle) {
      if (idle.part == GpuPart::kIdleQueue || idle.part == GpuPart::kIdleElsewhere) return;
      LinePart part;
      if (!idle.thread.IsNone()) part = threads_.At(idle.thread, idle.start_ns);
      GapOf(part.kind == LineKind::kOutside ? launched : part).idle_ns +=
          idle.end_ns - idle.start_ns;
    });
  }

  LineGap& GapOf(const LinePart& part) {
    const PythonFrameId frame = threads_.FrameOf(part);
    LineGap& gap = gaps_[KeyOfLine(store_, part.kind, frame)];
    gap.frame = frame;
    return gap;
  }

  const StepInputs& inputs_;
  const Store& store_;
  LinesOfThreads threads_;
  std::map<LineKey, LineGap> gaps_;
};

}  // namespace

std::map<LineKey, LineGap> MeasureLineGaps(const StepInputs& inputs, const BackwardLinks& links) {
  if (!HasCallStacks(inputs.store)) return {};
  GapMeasurer measurer(inputs, links);
  measurer.AddIdle();
  measurer.AddWaits();
  return measurer.Take();
}

}  // namespace batchlight
