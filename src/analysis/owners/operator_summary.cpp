#include "analysis/owners/operator_summary.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/most_levels.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/owners/critical_time.h"
#include "analysis/owners/operator_sums.h"
#include "analysis/owners/steady_rows.h"
#include "analysis/owners/steady_time.h"
#include "analysis/owners/steady_work.h"
#include "analysis/steps/step_clock.h"

namespace batchlight {
namespace {

// The row of the call that was asked for last: calls of one parent mostly follow each other.
struct LastRow {
  size_t call = SIZE_MAX;
  uint32_t row = 0;
};

uint64_t KeyOf(const OperatorCallsTable& calls, size_t call) {
  return (uint64_t{calls.name[call].value} << 32) | calls.shapes[call].value;
}

// By call, what the GPU did for it and all that it calls. Empty without a GPU.
std::vector<int64_t> GpuTimeOfCalls(const Store& store, const Attribution& work) {
  if (work.total_ns == 0) return {};
  const std::vector<OperatorCallId>& parent = store.operator_calls.parent;
  std::vector<int64_t> ns(parent.size());
  VisitWork(store, work, [&](const WorkOwner& owner, int64_t duration_ns, int64_t) {
    if (!owner.op.IsNone()) ns[owner.op.row()] += duration_ns;
  });
  for (size_t call = parent.size(); call-- > 0;) {  // parents stand before children
    if (!parent[call].IsNone()) ns[parent[call].row()] += ns[call];
  }
  return ns;
}

void Merge(OperatorRow& into, const OperatorRow& row) {
  into.calls += row.calls;
  into.total_ns += row.total_ns;
  into.self_ns += row.self_ns;
  into.min_ns = std::min(into.min_ns, row.min_ns);
  into.max_ns = std::max(into.max_ns, row.max_ns);
  into.backward_ns += row.backward_ns;
  into.self_in_backward_ns += row.self_in_backward_ns;
  into.gpu_ns += row.gpu_ns;
  into.gpu_total_ns += row.gpu_total_ns;
  into.calls_per_step += row.calls_per_step;
  into.self_per_step_ns += row.self_per_step_ns;
  into.total_per_step_ns += row.total_per_step_ns;
  into.beside_per_step_ns += row.beside_per_step_ns;
  into.in_backward_per_step_ns += row.in_backward_per_step_ns;
  into.gpu_per_step_ns += row.gpu_per_step_ns;
  into.gpu_total_per_step_ns += row.gpu_total_per_step_ns;
  into.share_of_step += row.share_of_step;
}

}  // namespace

// Of one row, in the steady steps.
struct OperatorSums::Steady : SteadyTime {
  int64_t in_backward_ns = 0;
  int64_t gpu_total_ns = 0;
};

OperatorSums::OperatorSums(const Store& store, const BackwardLinks& links, const Attribution& work)
    : store_(store), threads_(store.operator_calls.thread) {
  MarkCalls();
  AddCalls(work);
  for (const BackwardLink& link : links.links()) {
    rows_[RowOf(link.forward.row())].backward_ns += link.own_ns;
  }
}

int64_t OperatorSums::End(size_t call) const {
  return ClosedEnd(store_, calls().start_ns[call], calls().end_ns[call]);
}

uint32_t OperatorSums::RowOf(size_t call) const { return known_.Find(KeyOf(calls(), call)); }

uint32_t OperatorSums::AddRowOf(size_t call) {
  const auto next = static_cast<uint32_t>(rows_.size());
  const uint32_t row = known_.FindOrAdd(KeyOf(calls(), call), next);
  if (row == next) {
    const StringId shapes = calls().shapes[call];
    rows_.push_back({.name = calls().name[call], .shapes = shapes, .min_ns = INT64_MAX});
    has_shapes_ |= !shapes.IsNone();
  }
  return row;
}

void OperatorSums::MarkCalls() {
  in_backward_.resize(calls().size());
  outermost_.resize(calls().size());
  const auto is_inside_same_name = [&](size_t call) {
    OperatorCallId around = calls().parent[call];
    for (size_t level = 0; !around.IsNone() && level < kMostLevels; ++level) {
      if (calls().name[around.row()] == calls().name[call]) return true;
      around = calls().parent[around.row()];
    }
    return false;
  };
  for (size_t call = 0; call < calls().size(); ++call) {  // parents stand before children
    const OperatorCallId parent = calls().parent[call];
    in_backward_[call] = calls().scope[call] == OperatorScope::kBackward ||
                         (!parent.IsNone() && in_backward_[parent.row()]);
    outermost_[call] = !is_inside_same_name(call);
  }
}

void OperatorSums::AddCalls(const Attribution& work) {
  const std::vector<int64_t> gpu_ns = GpuTimeOfCalls(store_, work);
  // Sums of own times need no own time of each call: it is taken out of what its parent is in.
  const auto add_self = [&](OperatorRow& row, bool in_backward, int64_t time_ns) {
    row.self_ns += time_ns;
    if (in_backward) row.self_in_backward_ns += time_ns;
  };
  LastRow of_parent;
  for (size_t call = 0; call < calls().size(); ++call) {
    OperatorRow& row = rows_[AddRowOf(call)];
    const int64_t time_ns = End(call) - calls().start_ns[call];
    ++row.calls;
    row.min_ns = std::min(row.min_ns, time_ns);
    row.max_ns = std::max(row.max_ns, time_ns);
    if (outermost_[call]) row.total_ns += time_ns;
    const int64_t on_gpu_ns = gpu_ns.empty() ? 0 : gpu_ns[call];
    row.gpu_ns += on_gpu_ns;
    if (outermost_[call]) row.gpu_total_ns += on_gpu_ns;
    add_self(row, in_backward_[call], time_ns);
    if (calls().parent[call].IsNone()) continue;
    const size_t parent = calls().parent[call].row();
    if (of_parent.call != parent) of_parent = {parent, RowOf(parent)};
    add_self(rows_[of_parent.row], in_backward_[parent], -time_ns);
    rows_[of_parent.row].gpu_ns -= on_gpu_ns;
  }
}

// Sums up what lies in steady steps, a stretch of calls after another.
class OperatorSums::SteadyPass {
 public:
  SteadyPass(const OperatorSums& sums, const StepSet& steps, const CriticalTime& critical)
      : sums_(sums),
        calls_(sums.calls()),
        steps_(steps),
        clock_(sums.store_, steps),
        critical_(critical),
        steady_(sums.rows_.size()) {}

  std::vector<OperatorRow> Sum(const LaunchSteps& launched, const Attribution& work) {
    for (const SteadyRows& rows :
         FindSteadyRows(sums_.store_, steps_, sums_.threads_, calls_.start_ns, calls_.end_ns)) {
      AddCalls(rows);
    }
    AddGpuTime(launched, work);
    std::vector<OperatorRow> all = sums_.rows_;
    for (size_t i = 0; i < all.size(); ++i) SetPerStep(steady_[i], all[i]);
    return all;
  }

 private:
  void AddCalls(const SteadyRows& rows) {
    int64_t last_end_ns = INT64_MIN;
    for (size_t call = rows.begin; call < rows.end; ++call) {
      const uint32_t row = sums_.RowOf(call);
      const CriticalPart part = PartOf(call);
      if (!rows.begun_before) ++steady_[row].calls;
      if (sums_.outermost_[call]) steady_[row].total_ns += part.lasting_ns;
      AddSelf(row, sums_.in_backward_[call], part, 1);
      TakeFromParent(call, part, rows);
      last_end_ns = std::max(last_end_ns, sums_.End(call));
    }
    if (steps_.within) return;
    // A call belongs to the step in which it begins, and so does what it calls after that step.
    for (size_t call = rows.end; call < rows.thread_end; ++call) {
      if (calls_.start_ns[call] > last_end_ns) break;
      TakeFromParent(call, PartOf(call), rows);
    }
  }

  CriticalPart PartOf(size_t call) {
    return critical_.Of(calls_.thread[call], calls_.start_ns[call], sums_.End(call), critical_at_);
  }

  void TakeFromParent(size_t call, const CriticalPart& part, const SteadyRows& rows) {
    if (calls_.parent[call].IsNone()) return;
    const size_t parent = calls_.parent[call].row();
    if (!steps_.within && (parent < rows.begin || parent >= rows.end)) return;
    if (of_parent_.call != parent) of_parent_ = {parent, sums_.RowOf(parent)};
    AddSelf(of_parent_.row, sums_.in_backward_[parent], part, -1);
  }

  void AddSelf(uint32_t row, bool in_backward, const CriticalPart& part, int sign) {
    Steady& steady = steady_[row];
    steady.self_ns += sign * part.waited_for_ns;
    steady.beside_ns += sign * part.beside_ns;
    if (in_backward) steady.in_backward_ns += sign * part.waited_for_ns;
  }

  void AddGpuTime(const LaunchSteps& launched, const Attribution& work) {
    VisitSteadyWork(sums_.store_, work, launched, steps_, [&](const WorkOwner& owner, int64_t ns) {
      if (owner.op.IsNone()) return;
      steady_[sums_.RowOf(owner.op.row())].gpu_ns += ns;
      for (OperatorCallId op = owner.op; !op.IsNone(); op = calls_.parent[op.row()]) {
        if (!sums_.outermost_[op.row()]) continue;  // the outer one counts
        steady_[sums_.RowOf(op.row())].gpu_total_ns += ns;
      }
    });
  }

  void SetPerStep(const Steady& steady, OperatorRow& row) const {
    steady.SetPerStep(clock_, row);
    row.in_backward_per_step_ns = clock_.PerStep(double(steady.in_backward_ns));
    row.gpu_total_per_step_ns = clock_.PerStep(double(steady.gpu_total_ns));
    row.share_of_step = clock_.ShareOfStep(row.self_per_step_ns);
  }

  const OperatorSums& sums_;
  const OperatorCallsTable& calls_;
  const StepSet& steps_;
  StepClock clock_;
  const CriticalTime& critical_;
  size_t critical_at_ = 0;
  LastRow of_parent_;
  std::vector<Steady> steady_;  // by row
};

OperatorSummary OperatorSums::Of(const StepSet& steps, const CriticalTime& critical,
                                 const LaunchSteps& launched, const Attribution& work) const {
  return Finish(SteadyPass(*this, steps, critical).Sum(launched, work));
}

OperatorSummary OperatorSums::Finish(std::vector<OperatorRow> rows) const {
  OperatorSummary summary;
  std::unordered_map<StringId, size_t> by_name;
  for (const OperatorRow& row : rows) {
    summary.calls += row.calls;
    summary.self_ns += row.self_ns;
    const auto [found, added] = by_name.try_emplace(row.name, summary.by_name.size());
    if (added) {
      summary.by_name.push_back(row);
      summary.by_name.back().shapes = StringId::None();
    } else {
      Merge(summary.by_name[found->second], row);
    }
  }
  if (has_shapes_) summary.by_shape = std::move(rows);
  SortBySelfTime(summary.by_name);
  SortBySelfTime(summary.by_shape);
  return summary;
}

void OperatorSums::SortBySelfTime(std::vector<OperatorRow>& rows) const {
  std::sort(rows.begin(), rows.end(), [&](const OperatorRow& a, const OperatorRow& b) {
    if (a.self_ns != b.self_ns) return a.self_ns > b.self_ns;
    if (a.name != b.name) return store_.Text(a.name) < store_.Text(b.name);
    return store_.Text(a.shapes) < store_.Text(b.shapes);
  });
}

OperatorSummary SummarizeOperators(const Store& store, const StepSet& steps,
                                   const CriticalTime& critical, const BackwardLinks& links,
                                   const Attribution& work) {
  return OperatorSums(store, links, work).Of(steps, critical, LaunchSteps(store, steps), work);
}

}  // namespace batchlight
