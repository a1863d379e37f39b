#include "analysis/steps/loop_span.h"

#include <algorithm>

namespace batchlight {

LoopSpan SpanOfLoop(std::span<const Step> steps) {
  LoopSpan loop;
  if (steps.empty()) return loop;
  loop.whole = {steps.front().start_ns, steps.back().end_ns};
  const bool compiles = steps.size() > 1 && steps.front().kind == StepKind::kCompile;
  const auto first =
      std::find_if(steps.begin() + (compiles ? 1 : 0), steps.end(), [](const Step& step) {
        return step.kind != StepKind::kWarmUp && step.kind != StepKind::kGraphCapture;
      });
  if (first == steps.end()) return loop;
  loop.settled = {first->start_ns, loop.whole.end_ns};
  loop.settled_steps = static_cast<size_t>(steps.end() - first);
  return loop;
}

}  // namespace batchlight
