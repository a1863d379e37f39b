#include "analysis/gradients/double_backward.h"

#include <cstddef>
#include <utility>

#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {

DoubleBackward FindDoubleBackward(const Store& store, const ProcessSteps* main,
                                  const PhaseMarks& marks, const BackwardLinks& links,
                                  const Attribution& work) {
  DoubleBackward found;
  if (main == nullptr || main->thread.IsNone() || links.links().empty()) return found;
  StepLookup steps(main);
  std::vector<TimeSpan> calls;
  for (const PhaseMark& mark : marks.Outermost(main->thread, PhaseKind::kBackward)) {
    if (store.Text(mark.name) != "torch.autograd.grad" || !steps.IsSteadyAt(mark.start_ns))
      continue;
    AddSpan(calls, mark.start_ns, mark.end_ns);
  }
  if (calls.empty()) return found;
  std::vector<char> is_double(links.links().size(), 0);
  StepLookup of_links(main);
  for (size_t i = 0; i < links.links().size(); ++i) {
    const BackwardLink& link = links.links()[i];
    const int64_t at_ns = store.operator_calls.start_ns[link.backward.row()];
    const int64_t made_ns = store.operator_calls.start_ns[link.forward.row()];
    if (!of_links.IsSteadyAt(at_ns) || NsInside(calls, made_ns, made_ns + 1) == 0) continue;
    if (!links.IsInBackward(link.forward) || NsInside(calls, at_ns, at_ns + 1) > 0) continue;
    is_double[i] = 1;
    found.cpu_ns += link.own_ns;
  }
  if (found.cpu_ns == 0) return found;  // of gradients that are numbers only
  for (const TimeSpan& call : calls) found.cpu_ns += call.end_ns - call.start_ns;
  found.calls = std::move(calls);
  if (work.total_ns == 0) return found;
  VisitWork(store, work, [&](const WorkOwner& owner, int64_t duration_ns, int64_t launched_ns) {
    if (!owner.backward || owner.op.IsNone() || !steps.IsSteadyAt(launched_ns)) return;
    const size_t link = links.LinkAround(owner.op);
    const bool goes_back = link < is_double.size() && is_double[link] != 0;
    if (goes_back || NsInside(found.calls, launched_ns, launched_ns + 1) > 0) {
      found.gpu_ns += duration_ns;
    }
  });
  return found;
}

}  // namespace batchlight
