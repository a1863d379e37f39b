#include "analysis/gradients/repeated_backward.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

class RepeatFinder {
 public:
  RepeatFinder(const Store& store, const ProcessSteps& main, const PhaseMarks& marks,
               const BackwardLinks& links)
      : calls_(store.operator_calls),
        links_(links.links()),
        optimizers_(marks.Outermost(main.thread, PhaseKind::kOptimizer)) {}

  // By link: whether its function has run before for the same forward.
  std::vector<char> Repeats(const Store& store, ProcessId process) const {
    std::vector<uint32_t> order(links_.size());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](uint32_t link) {
      return store.ProcessOf(calls_.thread[links_[link].backward.row()]) != process;
    });
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return StartOf(a) < StartOf(b); });
    std::vector<char> repeats(links_.size(), 0);
    std::unordered_map<size_t, int64_t> last_ns;  // by forward: when its function began last
    for (const uint32_t link : order) {
      const auto [last, is_first] = last_ns.try_emplace(links_[link].forward.row(), StartOf(link));
      if (is_first) continue;
      repeats[link] = !SteppedBetween(last->second, StartOf(link));
      last->second = StartOf(link);
    }
    return repeats;
  }

 private:
  int64_t StartOf(uint32_t link) const { return calls_.start_ns[links_[link].backward.row()]; }
  bool SteppedBetween(int64_t from_ns, int64_t to_ns) const {
    const auto step =
        std::partition_point(optimizers_.begin(), optimizers_.end(),
                             [&](const PhaseMark& mark) { return mark.start_ns < from_ns; });
    return step != optimizers_.end() && step->start_ns < to_ns;
  }

  const OperatorCallsTable& calls_;
  const std::vector<BackwardLink>& links_;
  std::vector<PhaseMark> optimizers_;
};

}  // namespace

RepeatedBackward FindRepeatedBackward(const Store& store, const ProcessSteps* main,
                                      const PhaseMarks& marks, const BackwardLinks& links,
                                      const Attribution& work) {
  RepeatedBackward found;
  if (main == nullptr || main->thread.IsNone()) return found;
  const std::vector<char> repeats =
      RepeatFinder(store, *main, marks, links).Repeats(store, main->process);
  StepLookup steps(main);
  std::unordered_set<size_t> again;  // forwards
  for (size_t i = 0; i < repeats.size(); ++i) {
    const BackwardLink& link = links.links()[i];
    if (!steps.IsSteadyAt(store.operator_calls.start_ns[link.backward.row()])) continue;
    if (links.IsInBackward(link.forward)) return {};
    if (repeats[i] == 0) continue;
    found.cpu_ns += link.own_ns;
    ++found.repeats;
    again.insert(link.forward.row());
  }
  found.functions = again.size();
  if (found.repeats == 0 || work.total_ns == 0) return found;
  VisitWork(store, work, [&](const WorkOwner& owner, int64_t duration_ns, int64_t launched_ns) {
    if (!owner.backward || owner.op.IsNone() || !steps.IsSteadyAt(launched_ns)) return;
    const size_t link = links.LinkAround(owner.op);
    if (link < repeats.size() && repeats[link] != 0) found.gpu_ns += duration_ns;
  });
  return found;
}

}  // namespace batchlight
