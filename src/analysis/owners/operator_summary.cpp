#include "analysis/owners/operator_summary.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/numbers/closed_end.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/owners/critical_time.h"
#include "analysis/owners/steady_time.h"
#include "analysis/steps/step_clock.h"

namespace batchlight {
namespace {

struct SteadyOperator : SteadyTime {
  int64_t in_backward_ns = 0;
  int64_t gpu_total_ns = 0;
};

class OperatorTable {
 public:
  OperatorTable(const Store& store, const StepSet& steps, const CriticalTime& critical)
      : store_(store), calls_(store.operator_calls), clock_(store, steps), critical_(critical) {}

  OperatorSummary Build(const BackwardLinks& links, const Attribution& work) {
    MarkBackward();
    is_steady_.resize(calls_.size());
    for (size_t call = 0; call < calls_.size(); ++call) Add(call);
    for (const BackwardLink& link : links.links()) {
      const size_t forward = link.forward.row();
      rows_[RowFor(calls_.name[forward], calls_.shapes[forward])].backward_ns += link.own_ns;
    }
    AddGpuTime(work);
    SetPerStep();
    return Finish();
  }

 private:
  // Where the time of a call is added: sums of self times need no self time of each call.
  struct Place {
    uint32_t row;
    bool steady;
    bool in_backward;
  };

  int64_t Duration(size_t call) const { return End(call) - calls_.start_ns[call]; }

  int64_t End(size_t call) const {
    return ClosedEnd(store_, calls_.start_ns[call], calls_.end_ns[call]);
  }

  void MarkBackward() {
    in_backward_.resize(calls_.size());
    for (size_t call = 0; call < calls_.size(); ++call) {  // parents stand before children
      const OperatorCallId parent = calls_.parent[call];
      in_backward_[call] = calls_.scope[call] == OperatorScope::kBackward ||
                           (!parent.IsNone() && in_backward_[parent.row()]);
    }
  }

  uint32_t RowFor(StringId name, StringId shapes) {
    const uint64_t key = (uint64_t{name.value} << 32) | shapes.value;
    const auto [found, added] = known_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
    if (added) {
      rows_.push_back({.name = name, .shapes = shapes, .min_ns = INT64_MAX});
      steady_.emplace_back();
      has_shapes_ |= !shapes.IsNone();
    }
    return found->second;
  }

  bool InsideSameName(size_t call) const {
    OperatorCallId around = calls_.parent[call];
    for (; !around.IsNone(); around = calls_.parent[around.row()]) {
      if (calls_.name[around.row()] == calls_.name[call]) return true;
    }
    return false;
  }

  void Add(size_t call) {
    const uint32_t index = RowFor(calls_.name[call], calls_.shapes[call]);
    const bool steady = clock_.IsSteady(calls_.thread[call], calls_.start_ns[call]);
    is_steady_[call] = steady;
    const int64_t time = Duration(call);
    const CriticalPart part =
        critical_.Of(calls_.thread[call], calls_.start_ns[call], End(call), critical_at_);
    OperatorRow& row = rows_[index];
    const bool counts = !InsideSameName(call);
    ++row.calls;
    row.min_ns = std::min(row.min_ns, time);
    row.max_ns = std::max(row.max_ns, time);
    if (counts) row.total_ns += time;
    if (steady) {
      ++steady_[index].calls;
      if (counts) steady_[index].total_ns += part.lasting_ns;
    }
    AddSelf({index, steady, in_backward_[call]}, time, part, 1);
    const OperatorCallId parent = calls_.parent[call];
    if (!parent.IsNone()) AddSelf(PlaceOfParent(parent.row()), time, part, -1);
  }

  // Calls of one parent mostly follow each other.
  Place PlaceOfParent(size_t parent) {
    if (parent != parent_) {
      parent_ = parent;
      parent_place_ = {RowFor(calls_.name[parent], calls_.shapes[parent]), is_steady_[parent],
                       in_backward_[parent]};
    }
    return parent_place_;
  }

  void AddSelf(const Place& place, int64_t time, const CriticalPart& part, int sign) {
    rows_[place.row].self_ns += sign * time;
    if (place.in_backward) rows_[place.row].self_in_backward_ns += sign * time;
    if (!place.steady) return;
    SteadyOperator& steady = steady_[place.row];
    steady.self_ns += sign * part.waited_for_ns;
    steady.beside_ns += sign * part.beside_ns;
    if (place.in_backward) steady.in_backward_ns += sign * part.waited_for_ns;
  }

  void AddGpuTime(const Attribution& work) {
    VisitWork(store_, work, [&](const WorkOwner& owner, int64_t duration_ns, int64_t launched_ns) {
      if (owner.op.IsNone()) return;
      const size_t call = owner.op.row();
      const bool steady = clock_.IsSteady(owner.thread, launched_ns);
      const uint32_t own = RowFor(calls_.name[call], calls_.shapes[call]);
      rows_[own].gpu_ns += duration_ns;
      if (steady) steady_[own].gpu_ns += duration_ns;
      for (OperatorCallId op = owner.op; !op.IsNone(); op = calls_.parent[op.row()]) {
        if (InsideSameName(op.row())) continue;  // the outer one counts
        const uint32_t row = RowFor(calls_.name[op.row()], calls_.shapes[op.row()]);
        rows_[row].gpu_total_ns += duration_ns;
        if (steady) steady_[row].gpu_total_ns += duration_ns;
      }
    });
  }

  void SetPerStep() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      OperatorRow& row = rows_[i];
      steady_[i].SetPerStep(clock_, row);
      row.in_backward_per_step_ns = clock_.PerStep(double(steady_[i].in_backward_ns));
      row.gpu_total_per_step_ns = clock_.PerStep(double(steady_[i].gpu_total_ns));
      row.share_of_step = clock_.ShareOfStep(row.self_per_step_ns);
    }
  }

  static void Merge(OperatorRow& into, const OperatorRow& row) {
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

  OperatorSummary Finish() {
    OperatorSummary summary;
    std::unordered_map<StringId, size_t> by_name;
    for (const OperatorRow& row : rows_) {
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
    if (has_shapes_) summary.by_shape = std::move(rows_);
    SortBySelfTime(summary.by_name);
    SortBySelfTime(summary.by_shape);
    return summary;
  }

  void SortBySelfTime(std::vector<OperatorRow>& rows) const {
    std::sort(rows.begin(), rows.end(), [&](const OperatorRow& a, const OperatorRow& b) {
      if (a.self_ns != b.self_ns) return a.self_ns > b.self_ns;
      if (a.name != b.name) return store_.Text(a.name) < store_.Text(b.name);
      return store_.Text(a.shapes) < store_.Text(b.shapes);
    });
  }

  const Store& store_;
  const OperatorCallsTable& calls_;
  StepClock clock_;
  const CriticalTime& critical_;
  size_t critical_at_ = 0;
  std::vector<bool> in_backward_;  // by call
  std::vector<bool> is_steady_;    // by call: it began in a steady step
  size_t parent_ = SIZE_MAX;       // whose place parent_place_ is
  Place parent_place_{};
  std::vector<OperatorRow> rows_;
  std::vector<SteadyOperator> steady_;
  std::unordered_map<uint64_t, uint32_t> known_;
  bool has_shapes_ = false;
};

}  // namespace

OperatorSummary SummarizeOperators(const Store& store, const StepSet& steps,
                                   const CriticalTime& critical, const BackwardLinks& links,
                                   const Attribution& work) {
  return OperatorTable(store, steps, critical).Build(links, work);
}

}  // namespace batchlight
