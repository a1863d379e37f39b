#include "analysis/gradients/repeated_backward.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>
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

// What a call of backward() ran, by its row of the marks.
struct BackwardCall {
  uint64_t repeats = 0;
  bool has_own = false;  // of a forward that came after the backward before
};

// Whether nearly all calls that repeat what others ran repeat more than the one before them, behind
// a forward of their own. Losses of one forward repeat the same each time.
bool Grows(const std::vector<BackwardCall>& calls) {
  constexpr double kNearlyAll = 0.9;
  size_t pairs = 0, grown = 0;
  for (size_t i = 1; i < calls.size(); ++i) {
    if (calls[i - 1].repeats == 0 || calls[i].repeats == 0) continue;
    ++pairs;
    grown += calls[i].repeats > calls[i - 1].repeats && calls[i].has_own;
  }
  return pairs > 0 && double(grown) >= kNearlyAll * double(pairs);
}

class CallSums {
 public:
  CallSums(const Store& store, std::vector<PhaseMark> marks)
      : operators_(store.operator_calls), marks_(std::move(marks)), calls_(marks_.size()) {}

  void Add(const BackwardLink& link, bool repeats) {
    const int64_t at_ns = operators_.start_ns[link.backward.row()];
    const auto after =
        std::partition_point(marks_.begin(), marks_.end(),
                             [&](const PhaseMark& mark) { return mark.start_ns <= at_ns; });
    if (after == marks_.begin()) return;
    const auto call = static_cast<size_t>(after - marks_.begin()) - 1;
    calls_[call].repeats += repeats;
    calls_[call].has_own |=
        call > 0 && operators_.start_ns[link.forward.row()] > marks_[call - 1].start_ns;
  }
  bool grows() const { return Grows(calls_); }

 private:
  const OperatorCallsTable& operators_;
  std::vector<PhaseMark> marks_;
  std::vector<BackwardCall> calls_;
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
  CallSums calls(store, marks.Outermost(main->thread, PhaseKind::kBackward));
  for (size_t i = 0; i < repeats.size(); ++i) {
    const BackwardLink& link = links.links()[i];
    if (store.ProcessOf(store.operator_calls.thread[link.backward.row()]) != main->process)
      continue;
    if (!steps.IsSteadyAt(store.operator_calls.start_ns[link.backward.row()])) continue;
    if (links.IsInBackward(link.forward)) return {};
    calls.Add(link, repeats[i] != 0);
    if (repeats[i] == 0) continue;
    found.cpu_ns += link.own_ns;
    ++found.repeats;
    again.insert(link.forward.row());
  }
  found.functions = again.size();
  found.grows = calls.grows();
  if (found.repeats == 0 || work.total_ns == 0) return found;
  VisitWork(store, work, [&](const WorkOwner& owner, int64_t duration_ns, int64_t launched_ns) {
    if (!owner.backward || owner.op.IsNone() || !steps.IsSteadyAt(launched_ns)) return;
    const size_t link = links.LinkAround(owner.op);
    if (link < repeats.size() && repeats[link] != 0) found.gpu_ns += duration_ns;
  });
  return found;
}

}  // namespace batchlight
