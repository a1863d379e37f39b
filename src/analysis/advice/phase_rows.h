// What happens inside calls of the training loop: operators or CUDA calls within Optimizer.step.
#pragma once

#include <cstdint>

#include "analysis/steps/step_clock.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight::advice {

struct PhaseTime {
  uint64_t calls = 0;
  int64_t total_ns = 0;

  double mean_ns() const { return calls == 0 ? 0 : double(total_ns) / double(calls); }
};

// visit(row) for every row of `table` that starts inside a finished call of `phase` in a step that
// counts. Both tables are ordered by (thread, start), as the store's are.
template <typename Table, typename Visit>
PhaseTime VisitInPhase(const Store& store, const StepSet& steps, Phase phase, const Table& table,
                       Visit&& visit) {
  PhaseTime time;
  StepClock clock(store, steps);
  const PhaseCallsTable& phases = store.phase_calls;
  size_t at = 0;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != phase || phases.end_ns[row] == kOpenEnd) continue;
    if (!clock.IsSteady(phases.thread[row], phases.start_ns[row])) continue;
    ++time.calls;
    time.total_ns += phases.end_ns[row] - phases.start_ns[row];
    const auto before = [&](size_t i) {
      return table.thread[i] < phases.thread[row] ||
             (table.thread[i] == phases.thread[row] && table.start_ns[i] < phases.start_ns[row]);
    };
    while (at < table.size() && before(at)) ++at;
    for (; at < table.size() && table.thread[at] == phases.thread[row] &&
           table.start_ns[at] < phases.end_ns[row];
         ++at) {
      visit(at);
    }
  }
  return time;
}

}  // namespace batchlight::advice
