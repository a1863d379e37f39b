#include "analysis/forward/unused_forwards.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/time_span.h"
#include "analysis/owners/autograd_numbers.h"
#include "analysis/owners/backward_links.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

// Where less of backward is known to belong to a forward, a forward without one says nothing.
constexpr double kLeastLinked = 0.3;

class UnusedForwardFinder {
 public:
  UnusedForwardFinder(const Store& store, const ProcessSteps& main, const PhaseMarks& marks,
                      const BackwardLinks& links)
      : store_(store), main_(main), marks_(marks), links_(links), steps_(&main) {}

  UnusedForward Find() {
    if (!KnowsBackward()) return {};
    FindFollowed();
    FindElsewhere();
    VisitCalls();
    UnusedForward most;
    for (const auto& [path, unused] : by_path_) {
      if (unused.ns > most.ns) most = unused;
    }
    return most;
  }

 private:
  bool KnowsBackward() {
    const OperatorCallsTable& operators = store_.operator_calls;
    double linked_ns = 0, backward_ns = 0;
    for (const BackwardLink& link : links_.links()) {
      const int64_t start_ns = operators.start_ns[link.backward.row()];
      if (operators.thread[link.forward.row()] != main_.thread) continue;
      if (steps_.IsSteadyAt(start_ns)) linked_ns += double(link.own_ns);
    }
    for (const PhaseMark& mark : marks_.Outermost(main_.thread, PhaseKind::kBackward)) {
      if (steps_.IsSteadyAt(mark.start_ns)) backward_ns += double(mark.end_ns - mark.start_ns);
    }
    return linked_ns > 0 && linked_ns >= kLeastLinked * backward_ns;
  }

  // The operators that run with gradients, and how many of those up to each have a backward.
  void FindFollowed() {
    const OperatorCallsTable& operators = store_.operator_calls;
    std::vector<uint32_t> linked;
    for (const BackwardLink& link : links_.links()) linked.push_back(uint32_t(link.forward.row()));
    std::sort(linked.begin(), linked.end());
    linked_before_ = {0};
    const ThreadSpans::Rows rows = ThreadSpans(operators.thread).Of(main_.thread);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      if (!HasOwnNumber(operators, row) || IsCast(store_, row)) continue;
      starts_.push_back(operators.start_ns[row]);
      sequences_.push_back(operators.sequence[row]);
      const bool has_backward = std::binary_search(linked.begin(), linked.end(), row);
      linked_before_.push_back(linked_before_.back() + has_backward);
    }
  }

  // Where calls of modules are no forward of training.
  void FindElsewhere() {
    const ThreadSpans::Rows rows = marks_.RowsOf(main_.thread);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const PhaseMark& mark = marks_.all()[row];
      if (!IsEvaluation(mark.kind) && mark.kind != PhaseKind::kBackward) continue;
      AddSpan(elsewhere_, mark.start_ns, mark.end_ns);
    }
  }

  void VisitCalls() {
    const ModuleCallsTable& calls = store_.module_calls;
    const ThreadSpans::Rows rows = ThreadSpans(calls.thread).Of(main_.thread);
    int64_t covered_until_ns = INT64_MIN;
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const int64_t start_ns = calls.start_ns[row];
      const int64_t end_ns = ClosedEnd(store_, start_ns, calls.end_ns[row]);
      if (start_ns < covered_until_ns || !steps_.IsSteadyAt(start_ns)) continue;
      if (NsInside(elsewhere_, start_ns, end_ns) > 0) continue;
      const size_t from = IndexFrom(start_ns), to = IndexFrom(end_ns);
      // Each node of autograd's graph takes a number.
      if (from == to || to == starts_.size() || sequences_[to] <= sequences_[from]) continue;
      UnusedForward& of = by_path_[calls.path[row].value];
      of.path = calls.path[row];
      if (linked_before_[to] > linked_before_[from]) {
        ++of.used_calls;
        continue;
      }
      ++of.calls;
      of.ns += end_ns - start_ns;
      covered_until_ns = end_ns;
    }
  }

  size_t IndexFrom(int64_t time_ns) const {
    return static_cast<size_t>(std::lower_bound(starts_.begin(), starts_.end(), time_ns) -
                               starts_.begin());
  }

  const Store& store_;
  const ProcessSteps& main_;
  const PhaseMarks& marks_;
  const BackwardLinks& links_;
  StepLookup steps_;
  std::vector<int64_t> starts_, sequences_;  // of operators with gradients, by start
  std::vector<size_t> linked_before_;
  std::vector<TimeSpan> elsewhere_;
  std::map<uint32_t, UnusedForward> by_path_;  // by path
};

}  // namespace

UnusedForward FindUnusedForward(const Store& store, const ProcessSteps& main,
                                const PhaseMarks& marks, const BackwardLinks& links) {
  if (main.thread.IsNone() || main.steady.empty() || links.links().empty()) return {};
  return UnusedForwardFinder(store, main, marks, links).Find();
}

}  // namespace batchlight
