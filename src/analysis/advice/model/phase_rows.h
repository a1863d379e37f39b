// What happens inside one phase of the main process's steady steps: operators or CUDA calls within
// the optimizer. The phase is a traced call, or a range that is named like one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/phases/phase_marks.h"
#include "analysis/run/run_measures.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {

struct PhaseTime {
  uint64_t calls = 0;
  int64_t total_ns = 0;
  double steps = 0;  // steady ones

  double per_step_ns() const { return steps == 0 ? 0 : double(total_ns) / steps; }
  double PerStep(uint64_t count) const { return steps == 0 ? 0 : double(count) / steps; }
};

// visit(row) for every row of `table`, which is in (thread, start) order, that starts inside of the
// phase. Of an optimizer that runs a closure (Lightning, LBFGS) only what follows its last backward
// is the optimizer's.
template <typename Table, typename Visit>
PhaseTime VisitInPhase(const RunMeasures& run, PhaseKind kind, const Table& table, Visit&& visit) {
  PhaseTime time;
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->thread.IsNone()) return time;
  time.steps = double(main->steady.size());
  const PhaseMarks& marks = run.inputs->marks;
  const std::vector<PhaseMark> backwards = marks.Outermost(main->thread, PhaseKind::kBackward);
  StepLookup lookup(main);
  size_t at = 0, backward = 0;
  for (const PhaseMark& mark : marks.Outermost(main->thread, kind)) {
    if (!lookup.IsSteadyAt(mark.start_ns)) continue;
    int64_t from_ns = mark.start_ns;
    for (; kind == PhaseKind::kOptimizer && backward < backwards.size() &&
           backwards[backward].start_ns < mark.end_ns;
         ++backward) {
      from_ns = std::max(from_ns, std::min(backwards[backward].end_ns, mark.end_ns));
    }
    ++time.calls;
    time.total_ns += mark.end_ns - from_ns;
    while (at < table.size() &&
           (table.thread[at] < main->thread ||
            (table.thread[at] == main->thread && table.start_ns[at] < from_ns))) {
      ++at;
    }
    for (;
         at < table.size() && table.thread[at] == main->thread && table.start_ns[at] < mark.end_ns;
         ++at) {
      visit(at);
    }
  }
  return time;
}

}  // namespace batchlight::advice
