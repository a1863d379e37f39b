#include "analysis/owners/module_summary.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/most_levels.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/owners/critical_time.h"
#include "analysis/owners/module_sums.h"
#include "analysis/owners/steady_rows.h"
#include "analysis/owners/steady_time.h"
#include "analysis/owners/steady_work.h"
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

}  // namespace

// The tree of modules with the sums of the whole run, and what each call is in it.
class ModuleSums::Whole {
 public:
  Whole(const StepInputs& inputs, const BackwardLinks& links, const Attribution& work)
      : store_(inputs.store), calls_(store_.module_calls), threads_(calls_.thread) {
    row_of_call_.resize(calls_.size());
    again_.resize(calls_.size());
    nested_.resize(calls_.size());
    AddForward(links, inputs);
    AddBackward(links);
    AddGpuTime(work);
  }

  // Rows are made in order of first call: a parent comes first, but its children may lie apart.
  ModuleSummary OrderByTree(std::vector<ModuleRow> rows) const {
    std::vector<std::vector<uint32_t>> children(rows.size() + 1);
    for (uint32_t row = 0; row < rows.size(); ++row) {
      children[static_cast<size_t>(rows[row].parent) + 1].push_back(row);
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
      summary.rows.push_back(std::move(rows[row]));
      summary.rows.back().parent = parent;
      push_children(row + 1, placed);
    }
    return summary;
  }

 private:
  friend class ModuleSums::SteadyPass;

  // The row of (module that calls, path). A module that calls itself keeps its row. What is deeper
  // than any model counts for the last level: each call looks through those above it.
  uint32_t RowFor(int32_t parent, size_t call) {
    for (int32_t row = parent; row >= 0; row = rows_[static_cast<size_t>(row)].parent) {
      if (path_of_row_[static_cast<size_t>(row)] == calls_.path[call]) {
        return static_cast<uint32_t>(row);
      }
    }
    if (parent >= 0 &&
        static_cast<size_t>(rows_[static_cast<size_t>(parent)].depth) + 1 >= kMostLevels) {
      return static_cast<uint32_t>(parent);
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
    again_in_link_.push_back({link, static_cast<uint32_t>(call)});
    return true;
  }

  uint32_t RowAgain(size_t call) {
    const auto known = of_path_.find(calls_.path[call].value);
    return known == of_path_.end() ? RowFor(-1, call) : known->second;
  }

  void AddForward(const BackwardLinks& links, const StepInputs& inputs) {
    const IntervalIndex& in_operators = inputs.operators();
    const std::vector<uint32_t> last_inside = LastInside();
    for (size_t call = 0; call < calls_.size(); ++call) {
      const ModuleCallId caller = calls_.parent[call];
      const int32_t parent =
          caller.IsNone() ? -1 : static_cast<int32_t>(row_of_call_[caller.row()]);
      again_[call] =
          caller.IsNone() ? BeginsAgain(call, links, in_operators) : again_[caller.row()];
      const uint32_t row = again_[call] && caller.IsNone() ? RowAgain(call) : RowFor(parent, call);
      row_of_call_[call] = row;
      FindNested(call, last_inside);
      const int64_t time_ns = EndOf(call) - calls_.start_ns[call];
      const bool again = again_[call];
      const auto total = again ? &ModuleRow::recompute_ns : &ModuleRow::total_ns;
      const auto self = again ? &ModuleRow::recompute_self_ns : &ModuleRow::self_ns;
      ModuleRow& module = rows_[row];
      ++(again ? module.recomputed_calls : module.calls);
      module.*self += time_ns;
      if (!IsNested(call)) module.*total += time_ns;
      if (!caller.IsNone()) rows_[static_cast<size_t>(parent)].*self -= time_ns;
    }
  }

  int64_t EndOf(size_t call) const {
    return ClosedEnd(store_, calls_.start_ns[call], calls_.end_ns[call]);
  }

  // Inside another call of the same module.
  bool IsNested(size_t call) const { return nested_[call]; }

  // By call: the last one that lies in it. Those inside of a call follow it.
  std::vector<uint32_t> LastInside() const {
    std::vector<uint32_t> last(calls_.size());
    std::iota(last.begin(), last.end(), 0u);
    for (size_t call = calls_.size(); call-- > 0;) {
      const ModuleCallId caller = calls_.parent[call];
      if (!caller.IsNone()) last[caller.row()] = std::max(last[caller.row()], last[call]);
    }
    return last;
  }

  // Of the calls of a row that lie in none of it, the last is the only one that this may lie in.
  void FindNested(size_t call, const std::vector<uint32_t>& last_inside) {
    const uint32_t row = row_of_call_[call];
    outermost_.resize(rows_.size(), kNoRow);
    const uint32_t outermost = outermost_[row];
    nested_[call] = outermost != kNoRow && call <= last_inside[outermost];
    if (!nested_[call]) outermost_[row] = static_cast<uint32_t>(call);
  }

  void AddBackward(const BackwardLinks& links) {
    if (links.links().empty() || calls_.size() == 0) return;
    has_backward_ = true;
    const OperatorCallsTable& operators = store_.operator_calls;
    const IntervalIndex index(calls_.thread, calls_.start_ns, calls_.end_ns);
    row_of_link_.reserve(links.links().size());
    const std::vector<int64_t> again_ns = AgainInLinks(links.links().size(), kAllTime);
    for (size_t i = 0; i < links.links().size(); ++i) {
      const size_t forward = links.links()[i].forward.row();
      const uint32_t call = index.Innermost(operators.thread[forward], operators.start_ns[forward]);
      row_of_link_.push_back(call == kNoRow ? -1 : static_cast<int32_t>(row_of_call_[call]));
      if (call == kNoRow) continue;
      const int64_t own_ns = links.links()[i].own_ns - again_ns[i];
      rows_[row_of_call_[call]].backward_self_ns += own_ns;
      VisitUpwards(row_of_link_[i], [&](size_t row) { rows_[row].backward_ns += own_ns; });
    }
  }

  // By link: the time of modules that its backward function calls, which is none of its own.
  std::vector<int64_t> AgainInLinks(size_t links, const TimeSpan& within) const {
    std::vector<int64_t> again_ns(links);
    for (const auto& [link, call] : again_in_link_) {
      again_ns[link] += PartInside({calls_.start_ns[call], EndOf(call)}, within).duration_ns();
    }
    return again_ns;
  }

  // visit(row) for a row and those that call it.
  template <typename Visitor>
  void VisitUpwards(int32_t row, Visitor&& visit) const {
    for (; row >= 0; row = rows_[static_cast<size_t>(row)].parent) visit(static_cast<size_t>(row));
  }

  void AddGpuTime(const Attribution& work) {
    VisitWork(store_, work, [&](const WorkOwner& owner, int64_t duration_ns, int64_t) {
      if (owner.module.IsNone()) return;
      const auto gpu = again_[owner.module.row()] ? &ModuleRow::gpu_recompute_ns
                       : owner.backward           ? &ModuleRow::gpu_backward_ns
                                                  : &ModuleRow::gpu_ns;
      VisitUpwards(static_cast<int32_t>(row_of_call_[owner.module.row()]),
                   [&](size_t row) { rows_[row].*gpu += duration_ns; });
    });
  }

  const Store& store_;
  const ModuleCallsTable& calls_;
  ThreadSpans threads_;
  std::vector<ModuleRow> rows_;  // without what is per step
  std::vector<StringId> path_of_row_;
  std::vector<uint32_t> row_of_call_;
  std::vector<bool> nested_;          // by call
  std::vector<uint32_t> outermost_;   // by row
  std::vector<int32_t> row_of_link_;  // of its forward; -1: in no module
  std::vector<bool> again_;           // by call: inside of a backward function
  // Links with the calls of modules that their backward functions make.
  std::vector<std::pair<size_t, uint32_t>> again_in_link_;
  std::unordered_map<uint64_t, uint32_t> known_;
  std::unordered_map<uint32_t, uint32_t> of_path_;  // the first row of a path
  bool has_backward_ = false;
};

// Sums up what lies in steady steps.
class ModuleSums::SteadyPass {
 public:
  SteadyPass(const Whole& whole, const StepSet& steps, const CriticalTime& critical)
      : whole_(whole),
        calls_(whole.calls_),
        steps_(steps),
        clock_(whole.store_, steps),
        critical_(critical),
        steady_(whole.rows_.size()) {}

  std::vector<ModuleRow> Sum(const BackwardLinks& links, const LaunchSteps& launched,
                             const Attribution& work) {
    AddForward();
    AddBackward(links);
    AddGpuTime(launched, work);
    std::vector<ModuleRow> rows = whole_.rows_;
    for (size_t i = 0; i < rows.size(); ++i) SetPerStep(steady_[i], rows[i]);
    return rows;
  }

 private:
  void AddForward() {
    for (const SteadyRows& rows :
         FindSteadyRows(whole_.store_, steps_, whole_.threads_, calls_.start_ns, calls_.end_ns)) {
      for (size_t call = rows.begin; call < rows.end; ++call) {
        const bool again = whole_.again_[call];
        const CriticalPart part = critical_.Of(calls_.thread[call], calls_.start_ns[call],
                                               whole_.EndOf(call), critical_at_);
        if (!again && !rows.begun_before) ++steady_[whole_.row_of_call_[call]].calls;
        Add(whole_.row_of_call_[call], again, part, whole_.IsNested(call), 1);
        const ModuleCallId caller = calls_.parent[call];
        if (!caller.IsNone()) Add(whole_.row_of_call_[caller.row()], again, part, true, -1);
      }
    }
  }

  // sign: 1, or -1 to take a call out of what is its caller's own.
  void Add(uint32_t row, bool again, const CriticalPart& part, bool nested, int sign) {
    SteadyModule& module = steady_[row];
    (again ? module.recompute_self_ns : module.self_ns) += sign * part.waited_for_ns;
    module.beside_ns += sign * part.beside_ns;
    if (!nested) (again ? module.recompute_ns : module.total_ns) += part.lasting_ns;
  }

  void AddBackward(const BackwardLinks& links) {
    if (whole_.row_of_link_.empty()) return;
    const OperatorCallsTable& operators = whole_.store_.operator_calls;
    const std::vector<BackwardLink>& all = links.links();
    const ThreadSpans threads(operators.thread);
    again_ns_ = whole_.AgainInLinks(all.size(), steps_.within.value_or(kAllTime));
    auto link = all.begin();
    for (const SteadyRows& rows :
         FindSteadyRows(whole_.store_, steps_, threads, operators.start_ns, operators.end_ns)) {
      const auto is_before = [](const BackwardLink& before, uint32_t row) {
        return before.backward.row() < row;
      };
      link = std::lower_bound(link, all.end(), rows.begin, is_before);
      for (; link != all.end() && link->backward.row() < rows.end; ++link) {
        AddLink(links, static_cast<size_t>(link - all.begin()));
      }
    }
  }

  void AddLink(const BackwardLinks& links, size_t link) {
    const int32_t row = whole_.row_of_link_[link];
    if (row < 0) return;
    const int64_t own_ns =
        (steps_.within ? links.OwnNsWithin(link, *steps_.within) : links.links()[link].own_ns) -
        again_ns_[link];
    const int64_t waited_for_ns = WaitedFor(links.links()[link], own_ns);
    steady_[static_cast<size_t>(row)].backward_self_ns += waited_for_ns;
    steady_[static_cast<size_t>(row)].beside_ns += own_ns - waited_for_ns;
    whole_.VisitUpwards(row, [&](size_t up) { steady_[up].backward_ns += waited_for_ns; });
  }

  // The part of a backward function's own time in which the step waits for it.
  int64_t WaitedFor(const BackwardLink& link, int64_t own_ns) {
    const OperatorCallsTable& operators = whole_.store_.operator_calls;
    const size_t call = link.backward.row();
    const int64_t end_ns =
        ClosedEnd(whole_.store_, operators.start_ns[call], operators.end_ns[call]);
    const CriticalPart part =
        critical_.Of(operators.thread[call], operators.start_ns[call], end_ns, critical_at_);
    return std::min(own_ns, part.waited_for_ns);
  }

  void AddGpuTime(const LaunchSteps& launched, const Attribution& work) {
    VisitSteadyWork(whole_.store_, work, launched, steps_, [&](const WorkOwner& owner, int64_t ns) {
      if (owner.module.IsNone()) return;
      const auto gpu = whole_.again_[owner.module.row()] ? &SteadyModule::gpu_recompute_ns
                       : owner.backward                  ? &SteadyModule::gpu_backward_ns
                                                         : &SteadyModule::gpu_ns;
      whole_.VisitUpwards(static_cast<int32_t>(whole_.row_of_call_[owner.module.row()]),
                          [&](size_t row) { steady_[row].*gpu += ns; });
    });
  }

  void SetPerStep(const SteadyModule& steady, ModuleRow& module) const {
    steady.SetPerStep(clock_, module);
    module.backward_per_step_ns = clock_.PerStep(double(steady.backward_ns));
    module.backward_self_per_step_ns = clock_.PerStep(double(steady.backward_self_ns));
    module.recompute_per_step_ns = clock_.PerStep(double(steady.recompute_ns));
    module.recompute_self_per_step_ns = clock_.PerStep(double(steady.recompute_self_ns));
    module.gpu_backward_per_step_ns = clock_.PerStep(double(steady.gpu_backward_ns));
    module.gpu_recompute_per_step_ns = clock_.PerStep(double(steady.gpu_recompute_ns));
    module.share_of_step = clock_.ShareOfStep(
        module.total_per_step_ns + module.backward_per_step_ns + module.recompute_per_step_ns);
    module.own_share = clock_.ShareOfStep(module.own_per_step_ns());
  }

  const Whole& whole_;
  const ModuleCallsTable& calls_;
  const StepSet& steps_;
  StepClock clock_;
  const CriticalTime& critical_;
  size_t critical_at_ = 0;
  std::vector<int64_t> again_ns_;     // by link
  std::vector<SteadyModule> steady_;  // by row
};

ModuleSums::ModuleSums(const StepInputs& inputs, const BackwardLinks& links,
                       const Attribution& work)
    : whole_(std::make_unique<const Whole>(inputs, links, work)) {}

ModuleSums::~ModuleSums() = default;

ModuleSummary ModuleSums::Of(const StepSet& steps, const CriticalTime& critical,
                             const BackwardLinks& links, const LaunchSteps& launched,
                             const Attribution& work) const {
  return whole_->OrderByTree(SteadyPass(*whole_, steps, critical).Sum(links, launched, work));
}

ModuleSummary SummarizeModules(const Store& store, const StepSet& steps,
                               const CriticalTime& critical, const BackwardLinks& links,
                               const Attribution& work) {
  const StepInputs inputs(store);
  return ModuleSums(inputs, links, work)
      .Of(steps, critical, links, LaunchSteps(store, steps), work);
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
