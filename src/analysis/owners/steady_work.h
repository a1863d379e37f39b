// The GPU's work that counts for a choice of steps, with whose it is.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/owners/attribution.h"
#include "analysis/owners/launch_steps.h"
#include "analysis/steps/step_clock.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// visit(owner, ns) for every kernel, copy, set and graph launch of which something counts
// (StepClock::NsOfWork). `launched`: by these steps, whichever of them count.
template <typename Visitor>
void VisitSteadyWork(const Store& store, const Attribution& attribution,
                     const LaunchSteps& launched, const StepSet& steps, Visitor&& visit) {
  StepClock clock(store, steps);
  const std::vector<char> is_steady = SteadySteps(steps);
  const auto table = [&](const auto& rows, const std::vector<WorkOwner>& owners,
                         const std::vector<uint32_t>& step_of_row) {
    for (size_t row = 0; row < owners.size(); ++row) {
      const int64_t start_ns = rows.start_ns[row], end_ns = rows.end_ns[row];
      // Of a graph's kernel the launch may not be known, but who captured it.
      const bool knows_launch = !rows.api_call[row].IsNone();
      if (knows_launch && !steps.within && is_steady[step_of_row[row]] == 0) continue;
      if (end_ns == kOpenEnd) continue;
      int64_t ns = end_ns - start_ns;
      if (steps.within || !knows_launch) {
        const int64_t launched_ns =
            knows_launch ? store.api_calls.start_ns[rows.api_call[row].row()] : start_ns;
        ns = clock.NsOfWork(owners[row].thread, launched_ns, start_ns, end_ns);
      }
      if (ns != 0) visit(owners[row], ns);
    }
  };
  table(store.kernels, attribution.kernels, launched.kernels);
  table(store.memcpys, attribution.memcpys, launched.memcpys);
  table(store.memsets, attribution.memsets, launched.memsets);
  table(store.graph_launches, attribution.graph_launches, launched.graph_launches);
}

}  // namespace batchlight
