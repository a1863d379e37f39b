#include "analysis/owners/module_summary.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "analysis/numbers/closed_end.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/owners/critical_time.h"
#include "analysis/owners/steady_time.h"
#include "analysis/steps/step_clock.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

struct SteadyModule : SteadyTime {
  int64_t backward_ns = 0;
  int64_t backward_self_ns = 0;
  int64_t gpu_backward_ns = 0;
};

class ModuleTree {
 public:
  ModuleTree(const Store& store, const StepSet& steps, const CriticalTime& critical)
      : store_(store), calls_(store.module_calls), clock_(store, steps), critical_(critical) {
    row_of_call_.resize(calls_.size());
  }

  ModuleSummary Build(const BackwardLinks& links, const Attribution& work) {
    AddForward();
    AddBackward(links);
    AddGpuTime(work);
    SetPerStep();
    return OrderByTree();
  }

 private:
  // The row of (module that calls, path). A module that calls itself keeps its row.
  uint32_t RowFor(int32_t parent, size_t call) {
    for (int32_t row = parent; row >= 0; row = rows_[static_cast<size_t>(row)].parent) {
      if (path_of_row_[static_cast<size_t>(row)] == calls_.path[call]) {
        return static_cast<uint32_t>(row);
      }
    }
    const uint64_t key = (uint64_t{static_cast<uint32_t>(parent)} << 32) | calls_.path[call].value;
    const auto [found, added] = known_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
    if (added) {
      rows_.push_back({.path = std::string(store_.Text(calls_.path[call])),
                       .class_name = std::string(store_.Text(calls_.class_name[call])),
                       .parent = parent,
                       .depth = parent < 0 ? 0 : rows_[static_cast<size_t>(parent)].depth + 1});
      path_of_row_.push_back(calls_.path[call]);
      steady_.emplace_back();
    }
    return found->second;
  }

  void AddForward() {
    for (size_t call = 0; call < calls_.size(); ++call) {
      const ModuleCallId caller = calls_.parent[call];
      const int32_t parent =
          caller.IsNone() ? -1 : static_cast<int32_t>(row_of_call_[caller.row()]);
      const uint32_t row = RowFor(parent, call);
      row_of_call_[call] = row;
      const ThreadId thread = calls_.thread[call];
      const int64_t start_ns = calls_.start_ns[call];
      const int64_t end_ns = ClosedEnd(store_, start_ns, calls_.end_ns[call]);
      const int64_t time = end_ns - start_ns;
      const bool steady = clock_.IsSteady(thread, start_ns);
      const bool nested = IsNested(row, caller);
      ModuleRow& module = rows_[row];
      ++module.calls;
      module.self_ns += time;
      if (!nested) module.total_ns += time;
      if (!caller.IsNone()) rows_[static_cast<size_t>(parent)].self_ns -= time;
      if (!steady) continue;
      const CriticalPart part = critical_.Of(thread, start_ns, end_ns, critical_at_);
      ++steady_[row].calls;
      steady_[row].self_ns += part.waited_for_ns;
      steady_[row].beside_ns += part.beside_ns;
      if (!nested) steady_[row].total_ns += part.lasting_ns;
      if (caller.IsNone()) continue;
      steady_[static_cast<size_t>(parent)].self_ns -= part.waited_for_ns;
      steady_[static_cast<size_t>(parent)].beside_ns -= part.beside_ns;
    }
  }

  // Inside another call of the same module.
  bool IsNested(uint32_t row, ModuleCallId caller) const {
    for (; !caller.IsNone(); caller = calls_.parent[caller.row()]) {
      if (row_of_call_[caller.row()] == row) return true;
    }
    return false;
  }

  void AddBackward(const BackwardLinks& links) {
    if (links.links().empty() || calls_.size() == 0) return;
    has_backward_ = true;
    const OperatorCallsTable& operators = store_.operator_calls;
    const IntervalIndex index(calls_.thread, calls_.start_ns, calls_.end_ns);
    for (const BackwardLink& link : links.links()) {
      const size_t forward = link.forward.row();
      const size_t backward = link.backward.row();
      const uint32_t call = index.Innermost(operators.thread[forward], operators.start_ns[forward]);
      if (call == kNoRow) continue;
      const bool steady = clock_.IsSteady(operators.thread[backward], operators.start_ns[backward]);
      const int64_t waited_for = WaitedFor(link);
      rows_[row_of_call_[call]].backward_self_ns += link.own_ns;
      if (steady) {
        steady_[row_of_call_[call]].backward_self_ns += waited_for;
        steady_[row_of_call_[call]].beside_ns += link.own_ns - waited_for;
      }
      for (int32_t row = static_cast<int32_t>(row_of_call_[call]); row >= 0;
           row = rows_[static_cast<size_t>(row)].parent) {
        rows_[static_cast<size_t>(row)].backward_ns += link.own_ns;
        if (steady) steady_[static_cast<size_t>(row)].backward_ns += waited_for;
      }
    }
  }

  // The part of a backward function's own time in which the step waits for it.
  int64_t WaitedFor(const BackwardLink& link) {
    const OperatorCallsTable& operators = store_.operator_calls;
    const size_t call = link.backward.row();
    const int64_t end_ns = ClosedEnd(store_, operators.start_ns[call], operators.end_ns[call]);
    const CriticalPart part =
        critical_.Of(operators.thread[call], operators.start_ns[call], end_ns, critical_at_);
    return std::min(link.own_ns, part.waited_for_ns);
  }

  void AddGpuTime(const Attribution& work) {
    VisitWork(store_, work, [&](const WorkOwner& owner, int64_t duration_ns, int64_t launched_ns) {
      if (owner.module.IsNone()) return;
      const bool steady = clock_.IsSteady(owner.thread, launched_ns);
      for (int32_t row = static_cast<int32_t>(row_of_call_[owner.module.row()]); row >= 0;
           row = rows_[static_cast<size_t>(row)].parent) {
        ModuleRow& module = rows_[static_cast<size_t>(row)];
        (owner.backward ? module.gpu_backward_ns : module.gpu_ns) += duration_ns;
        if (!steady) continue;
        SteadyModule& steady_module = steady_[static_cast<size_t>(row)];
        (owner.backward ? steady_module.gpu_backward_ns : steady_module.gpu_ns) += duration_ns;
      }
    });
  }

  void SetPerStep() {
    for (size_t row = 0; row < rows_.size(); ++row) {
      ModuleRow& module = rows_[row];
      steady_[row].SetPerStep(clock_, module);
      module.backward_per_step_ns = clock_.PerStep(double(steady_[row].backward_ns));
      module.backward_self_per_step_ns = clock_.PerStep(double(steady_[row].backward_self_ns));
      module.gpu_backward_per_step_ns = clock_.PerStep(double(steady_[row].gpu_backward_ns));
      module.share_of_step =
          clock_.ShareOfStep(module.total_per_step_ns + module.backward_per_step_ns);
      module.own_share =
          clock_.ShareOfStep(module.self_per_step_ns + module.backward_self_per_step_ns);
    }
  }

  // Rows are made in order of first call: a parent comes first, but its children may lie apart.
  ModuleSummary OrderByTree() {
    std::vector<std::vector<uint32_t>> children(rows_.size() + 1);
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      children[static_cast<size_t>(rows_[row].parent) + 1].push_back(row);
    }
    ModuleSummary summary{.has_backward = has_backward_};
    std::vector<std::pair<uint32_t, int32_t>> open;  // old row, new row of its parent
    auto push_children = [&](size_t of, int32_t parent) {
      for (size_t i = children[of].size(); i-- > 0;) open.emplace_back(children[of][i], parent);
    };
    push_children(0, -1);
    while (!open.empty()) {
      const auto [row, parent] = open.back();
      open.pop_back();
      const int32_t placed = static_cast<int32_t>(summary.rows.size());
      summary.rows.push_back(std::move(rows_[row]));
      summary.rows.back().parent = parent;
      push_children(row + 1, placed);
    }
    return summary;
  }

  const Store& store_;
  const ModuleCallsTable& calls_;
  StepClock clock_;
  const CriticalTime& critical_;
  size_t critical_at_ = 0;
  std::vector<ModuleRow> rows_;
  std::vector<StringId> path_of_row_;
  std::vector<SteadyModule> steady_;
  std::vector<uint32_t> row_of_call_;
  std::unordered_map<uint64_t, uint32_t> known_;
  bool has_backward_ = false;
};

}  // namespace

ModuleSummary SummarizeModules(const Store& store, const StepSet& steps,
                               const CriticalTime& critical, const BackwardLinks& links,
                               const Attribution& work) {
  return ModuleTree(store, steps, critical).Build(links, work);
}

std::vector<uint32_t> ModulesBySelfTime(const ModuleSummary& summary, bool per_step) {
  std::vector<uint32_t> order(summary.rows.size());
  std::iota(order.begin(), order.end(), 0u);
  auto time = [&](uint32_t row) {
    const ModuleRow& module = summary.rows[row];
    return per_step ? module.self_per_step_ns + module.backward_self_per_step_ns
                    : double(module.self_ns + module.backward_self_ns);
  };
  std::erase_if(order, [&](uint32_t row) { return time(row) <= 0; });
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return time(a) > time(b); });
  return order;
}

}  // namespace batchlight
