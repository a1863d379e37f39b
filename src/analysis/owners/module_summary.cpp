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
  int64_t recompute_ns = 0;
  int64_t recompute_self_ns = 0;
  int64_t gpu_backward_ns = 0;
  int64_t gpu_recompute_ns = 0;
};

class ModuleTree {
 public:
  ModuleTree(const Store& store, const StepSet& steps, const CriticalTime& critical)
      : store_(store), calls_(store.module_calls), clock_(store, steps), critical_(critical) {
    row_of_call_.resize(calls_.size());
    again_.resize(calls_.size());
  }

  ModuleSummary Build(const BackwardLinks& links, const Attribution& work) {
    AddForward(links);
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
      of_path_.try_emplace(calls_.path[call].value, found->second);
      rows_.push_back({.path = std::string(store_.Text(calls_.path[call])),
                       .class_name = std::string(store_.Text(calls_.class_name[call])),
                       .parent = parent,
                       .depth = parent < 0 ? 0 : rows_[static_cast<size_t>(parent)].depth + 1});
      path_of_row_.push_back(calls_.path[call]);
      steady_.emplace_back();
    }
    return found->second;
  }

  // A call that no module makes and a backward function runs: its row is the one of its forward,
  // wherever in the model that is.
  bool BeginsAgain(size_t call, const BackwardLinks& links, const IntervalIndex& operators) {
    const int64_t start_ns = calls_.start_ns[call];
    const uint32_t around = operators.Innermost(calls_.thread[call], start_ns);
    if (around == kNoRow || !links.IsInBackward(OperatorCallId::At(around))) return false;
    const size_t link = links.LinkAround(OperatorCallId::At(around));
    if (link == links.links().size()) return true;
    again_in_link_.resize(links.links().size());
    again_in_link_[link] += ClosedEnd(store_, start_ns, calls_.end_ns[call]) - start_ns;
    return true;
  }

  uint32_t RowAgain(size_t call) {
    const auto known = of_path_.find(calls_.path[call].value);
    return known == of_path_.end() ? RowFor(-1, call) : known->second;
  }

  void AddForward(const BackwardLinks& links) {
    const OperatorCallsTable& operators = store_.operator_calls;
    const IntervalIndex in_operators(operators.thread, operators.start_ns, operators.end_ns);
    for (size_t call = 0; call < calls_.size(); ++call) {
      const ModuleCallId caller = calls_.parent[call];
      const int32_t parent =
          caller.IsNone() ? -1 : static_cast<int32_t>(row_of_call_[caller.row()]);
      again_[call] =
          caller.IsNone() ? BeginsAgain(call, links, in_operators) : again_[caller.row()];
      const uint32_t row = again_[call] && caller.IsNone() ? RowAgain(call) : RowFor(parent, call);
      row_of_call_[call] = row;
      const ThreadId thread = calls_.thread[call];
      const int64_t start_ns = calls_.start_ns[call];
      const int64_t end_ns = ClosedEnd(store_, start_ns, calls_.end_ns[call]);
      const int64_t time = end_ns - start_ns;
      const bool steady = clock_.IsSteady(thread, start_ns);
      const bool nested = IsNested(row, caller);
      const bool again = again_[call];
      const auto total = again ? &ModuleRow::recompute_ns : &ModuleRow::total_ns;
      const auto self = again ? &ModuleRow::recompute_self_ns : &ModuleRow::self_ns;
      ModuleRow& module = rows_[row];
      ++(again ? module.recomputed_calls : module.calls);
      module.*self += time;
      if (!nested) module.*total += time;
      if (!caller.IsNone()) rows_[static_cast<size_t>(parent)].*self -= time;
      if (!steady) continue;
      const CriticalPart part = critical_.Of(thread, start_ns, end_ns, critical_at_);
      AddSteady(row, again, part, nested, 1);
      if (!caller.IsNone()) AddSteady(static_cast<uint32_t>(parent), again, part, true, -1);
    }
  }

  // sign: 1, or -1 to take a call out of what is its caller's own.
  void AddSteady(uint32_t row, bool again, const CriticalPart& part, bool nested, int sign) {
    SteadyModule& module = steady_[row];
    (again ? module.recompute_self_ns : module.self_ns) += sign * part.waited_for_ns;
    module.beside_ns += sign * part.beside_ns;
    if (!nested) (again ? module.recompute_ns : module.total_ns) += part.lasting_ns;
    if (sign > 0 && !again) ++module.calls;
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
    for (size_t i = 0; i < links.links().size(); ++i) {
      const BackwardLink& link = links.links()[i];
      const size_t forward = link.forward.row();
      const size_t backward = link.backward.row();
      const int64_t own_ns =
          link.own_ns - (i < again_in_link_.size() ? again_in_link_[i] : int64_t{0});
      const uint32_t call = index.Innermost(operators.thread[forward], operators.start_ns[forward]);
      if (call == kNoRow) continue;
      const bool steady = clock_.IsSteady(operators.thread[backward], operators.start_ns[backward]);
      const int64_t waited_for = WaitedFor(link, own_ns);
      rows_[row_of_call_[call]].backward_self_ns += own_ns;
      if (steady) {
        steady_[row_of_call_[call]].backward_self_ns += waited_for;
        steady_[row_of_call_[call]].beside_ns += own_ns - waited_for;
      }
      for (int32_t row = static_cast<int32_t>(row_of_call_[call]); row >= 0;
           row = rows_[static_cast<size_t>(row)].parent) {
        rows_[static_cast<size_t>(row)].backward_ns += own_ns;
        if (steady) steady_[static_cast<size_t>(row)].backward_ns += waited_for;
      }
    }
  }

  // The part of a backward function's own time in which the step waits for it.
  int64_t WaitedFor(const BackwardLink& link, int64_t own_ns) {
    const OperatorCallsTable& operators = store_.operator_calls;
    const size_t call = link.backward.row();
    const int64_t end_ns = ClosedEnd(store_, operators.start_ns[call], operators.end_ns[call]);
    const CriticalPart part =
        critical_.Of(operators.thread[call], operators.start_ns[call], end_ns, critical_at_);
    return std::min(own_ns, part.waited_for_ns);
  }

  void AddGpuTime(const Attribution& work) {
    VisitWork(store_, work, [&](const WorkOwner& owner, int64_t duration_ns, int64_t launched_ns) {
      if (owner.module.IsNone()) return;
      const bool steady = clock_.IsSteady(owner.thread, launched_ns);
      for (int32_t row = static_cast<int32_t>(row_of_call_[owner.module.row()]); row >= 0;
           row = rows_[static_cast<size_t>(row)].parent) {
        ModuleRow& module = rows_[static_cast<size_t>(row)];
        const bool again = again_[owner.module.row()];
        (again            ? module.gpu_recompute_ns
         : owner.backward ? module.gpu_backward_ns
                          : module.gpu_ns) += duration_ns;
        if (!steady) continue;
        SteadyModule& steady_module = steady_[static_cast<size_t>(row)];
        (again            ? steady_module.gpu_recompute_ns
         : owner.backward ? steady_module.gpu_backward_ns
                          : steady_module.gpu_ns) += duration_ns;
      }
    });
  }

  void SetPerStep() {
    for (size_t row = 0; row < rows_.size(); ++row) {
      ModuleRow& module = rows_[row];
      steady_[row].SetPerStep(clock_, module);
      module.backward_per_step_ns = clock_.PerStep(double(steady_[row].backward_ns));
      module.backward_self_per_step_ns = clock_.PerStep(double(steady_[row].backward_self_ns));
      module.recompute_per_step_ns = clock_.PerStep(double(steady_[row].recompute_ns));
      module.recompute_self_per_step_ns = clock_.PerStep(double(steady_[row].recompute_self_ns));
      module.gpu_backward_per_step_ns = clock_.PerStep(double(steady_[row].gpu_backward_ns));
      module.gpu_recompute_per_step_ns = clock_.PerStep(double(steady_[row].gpu_recompute_ns));
      module.share_of_step = clock_.ShareOfStep(
          module.total_per_step_ns + module.backward_per_step_ns + module.recompute_per_step_ns);
      module.own_share = clock_.ShareOfStep(module.own_per_step_ns());
    }
  }

  // Rows are made in order of first call: a parent comes first, but its children may lie apart.
  ModuleSummary OrderByTree() {
    std::vector<std::vector<uint32_t>> children(rows_.size() + 1);
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      children[static_cast<size_t>(rows_[row].parent) + 1].push_back(row);
    }
    ModuleSummary summary{.has_backward = has_backward_};
    summary.has_recompute = std::find(again_.begin(), again_.end(), true) != again_.end();
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
  std::vector<bool> again_;             // by call: inside of a backward function
  std::vector<int64_t> again_in_link_;  // by link: ns of modules that its backward calls
  std::unordered_map<uint64_t, uint32_t> known_;
  std::unordered_map<uint32_t, uint32_t> of_path_;  // the first row of a path
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
    return per_step ? module.own_per_step_ns() : double(module.own_ns());
  };
  std::erase_if(order, [&](uint32_t row) { return time(row) <= 0; });
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return time(a) > time(b); });
  return order;
}

}  // namespace batchlight
