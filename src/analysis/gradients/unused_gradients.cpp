#include "analysis/gradients/unused_gradients.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/gradients/parts_apart.h"
#include "analysis/gradients/unheld_parameters.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// A linked backward function, or work that one launched on a GPU.
struct BackwardPart {
  int64_t start_ns = 0;
  int64_t cost_ns = 0;
  StringId module;  // of the forward; 0: outside of modules
  StringId root;    // the module of that call that no module calls, or the part apart around it
  double weight_share = 0;  // of the cost: the gradient of the function's weight
};

std::vector<std::string_view> SplitPaths(std::string_view paths) {
  std::vector<std::string_view> split;
  while (!paths.empty()) {
    const size_t end = std::min(paths.find(", "), paths.size());
    split.push_back(paths.substr(0, end));
    paths.remove_prefix(std::min(paths.size(), end + 2));
  }
  return split;
}

// The modules that optimizers update between one backward and the next.
struct Updated {
  std::vector<std::string_view> paths;
  std::unordered_map<uint32_t, bool> known;  // by StringId of a module's path

  bool Holds(const Store& store, StringId module) {
    const auto [found, added] = known.try_emplace(module.value, false);
    if (added) {
      const std::string_view path = store.Text(module);
      found->second = std::any_of(paths.begin(), paths.end(),
                                  [&](std::string_view p) { return IsAtOrBelow(path, p); });
    }
    return found->second;
  }
};

class UnusedGradientFinder {
 public:
  UnusedGradientFinder(const Store& store, const ProcessSteps& main, const PhaseMarks& marks,
                       const BackwardLinks& links, const Attribution& work)
      : store_(store),
        main_(main),
        marks_(marks),
        links_(links),
        owners_(work),
        unheld_(store, main.process) {}

  UnusedGradients Find() {
    backwards_ = marks_.Outermost(main_.thread, PhaseKind::kBackward);
    optimizers_ = marks_.Outermost(main_.thread, PhaseKind::kOptimizer);
    zeros_ = marks_.Outermost(main_.thread, PhaseKind::kZeroGrad);
    if (backwards_.empty() || optimizers_.empty() || zeros_.empty()) return {};
    ReadUpdates();
    if (updates_.empty()) return {};
    FindApart();
    FindParts();
    StepLookup steps(&main_);
    for (size_t i = 0; i < backwards_.size(); ++i) {
      if (steps.IsSteadyAt(backwards_[i].start_ns)) AddTail(i);
    }
    return Most();
  }

 private:
  void ReadUpdates() {
    for (const PhaseMark& mark : optimizers_) {
      if (mark.implied || updates_.contains(mark.name.value)) continue;
      const std::string key = "updates." + std::string(store_.Text(mark.name));
      const std::vector<std::string_view> paths = SplitPaths(store_.Property(key, main_.process));
      if (!paths.empty()) updates_.emplace(mark.name.value, paths);
    }
  }

  void FindParts() {
    const OperatorCallsTable& operators = store_.operator_calls;
    const ModuleCallsTable& modules = store_.module_calls;
    const IntervalIndex in_modules(modules.thread, modules.start_ns, modules.end_ns);
    for (const BackwardLink& link : links_.links()) {
      const size_t row = link.backward.row();
      if (store_.ProcessOf(operators.thread[row]) != main_.process) continue;
      const size_t forward = link.forward.row();
      const uint32_t call =
          in_modules.Innermost(operators.thread[forward], operators.start_ns[forward]);
      if (call == kNoRow) continue;
      functions_.push_back({operators.start_ns[row], link.own_ns, modules.path[call], RootOf(call),
                            WeightShareOf(operators.name[row])});
    }
    const auto by_start = [](const BackwardPart& a, const BackwardPart& b) {
      return a.start_ns < b.start_ns;
    };
    std::sort(functions_.begin(), functions_.end(), by_start);
    if (owners_.total_ns == 0) return;
    VisitWork(store_, owners_,
              [&](const WorkOwner& owner, int64_t duration_ns, int64_t launched_ns) {
                if (!owner.backward) return;
                if (owner.module.IsNone()) return AddAccumulation(owner, duration_ns, launched_ns);
                const size_t call = owner.module.row();
                work_.push_back({launched_ns, duration_ns, modules.path[call],
                                 RootOf(static_cast<uint32_t>(call)), WeightShareAround(owner.op)});
              });
    std::sort(work_.begin(), work_.end(), by_start);
  }

  // A gradient is added to its parameter's right behind the function that made it.
  void AddAccumulation(const WorkOwner& owner, int64_t duration_ns, int64_t launched_ns) {
    bool accumulates = false;
    const OperatorCallsTable& operators = store_.operator_calls;
    for (OperatorCallId op = owner.op; !op.IsNone(); op = operators.parent[op.row()]) {
      accumulates = accumulates || IsAccumulation(operators.name[op.row()]);
    }
    if (!accumulates) return;
    const auto after = std::partition_point(
        functions_.begin(), functions_.end(),
        [&](const BackwardPart& function) { return function.start_ns <= launched_ns; });
    if (after == functions_.begin()) return;
    const BackwardPart& made = *std::prev(after);
    work_.push_back({launched_ns, duration_ns, made.module, made.root, 1});
  }

  double WeightShareOf(StringId name) {
    const auto [known, added] = weight_shares_.try_emplace(name.value, 0);
    if (added) known->second = WeightGradientShare(store_.Text(name));
    return known->second;
  }

  // Of the innermost function around an operator that makes one. A sum in backward brings a
  // gradient to the shape of a weight that was broadcast: a norm's, a bias.
  double WeightShareAround(OperatorCallId op) {
    if (unheld_.empty() || op.IsNone()) return 0;
    const OperatorCallsTable& operators = store_.operator_calls;
    if (store_.Text(operators.name[op.row()]) == "aten::sum") return 1;
    for (; !op.IsNone(); op = operators.parent[op.row()]) {
      if (const double share = WeightShareOf(operators.name[op.row()]); share != 0) return share;
    }
    return 0;
  }

  bool IsAccumulation(StringId name) {
    const auto [known, added] = accumulations_.try_emplace(name.value, false);
    if (added) known->second = store_.Text(name).ends_with("AccumulateGrad");
    return known->second;
  }

  // Where one may step anything, nothing is apart.
  void FindApart() {
    const bool all_known = std::all_of(
        optimizers_.begin(), optimizers_.end(),
        [&](const PhaseMark& step) { return step.implied || updates_.contains(step.name.value); });
    if (!all_known) return;
    std::vector<std::string_view> updated;
    for (const auto& [name, paths] : updates_) {
      std::copy(paths.begin(), paths.end(), std::back_inserter(updated));
    }
    apart_.emplace(store_, main_.process, links_, backwards_, std::move(updated));
  }

  uint32_t RootCallOf(uint32_t call) const {
    const ModuleCallsTable& modules = store_.module_calls;
    while (!modules.parent[call].IsNone()) call = uint32_t(modules.parent[call].row());
    return call;
  }
  StringId RootOf(uint32_t call) const {
    const StringId apart = apart_ ? apart_->Around(call) : StringId();
    return apart.IsNone() ? store_.module_calls.path[RootCallOf(call)] : apart;
  }
  bool IsApart(StringId root) const { return apart_ && apart_->Holds(root); }

  // The optimizers that step what this backward computed; empty: not known.
  std::vector<StringId> SteppedAfter(size_t backward) const {
    const PhaseMark& mark = backwards_[backward];
    std::vector<StringId> stepped;
    auto at = std::partition_point(optimizers_.begin(), optimizers_.end(),
                                   [&](const auto& step) { return step.end_ns <= mark.start_ns; });
    if (at == optimizers_.end()) return {};
    if (at->start_ns <= mark.start_ns) return {at->name};  // its closure
    // Behind several backwards (accumulation) come the steps of all of them.
    const auto next =
        std::partition_point(backwards_.begin(), backwards_.end(),
                             [&](const PhaseMark& other) { return other.start_ns < at->start_ns; });
    const int64_t until_ns = next == backwards_.end() ? INT64_MAX : next->start_ns;
    for (; at != optimizers_.end() && at->start_ns < until_ns; ++at) stepped.push_back(at->name);
    return stepped;
  }

  // Gradients that stay until the next backward may be meant for a later step.
  bool IsZeroedBehind(size_t backward) const {
    const int64_t from_ns = backwards_[backward].end_ns;
    const int64_t until_ns =
        backward + 1 < backwards_.size() ? backwards_[backward + 1].start_ns : INT64_MAX;
    return std::any_of(zeros_.begin(), zeros_.end(), [&](const PhaseMark& zero) {
      return zero.start_ns >= from_ns && zero.start_ns < until_ns;
    });
  }

  void AddTail(size_t backward) {
    const std::vector<StringId> stepped = SteppedAfter(backward);
    if (stepped.empty()) return;
    // Gradients that are summed up may be for another step, but not those that no optimizer has.
    const bool zeroed = IsZeroedBehind(backward);
    if (!zeroed && unheld_.empty()) return;
    Updated& updated = UpdatedBy(stepped);
    if (updated.paths.empty()) return;
    const PhaseMark& mark = backwards_[backward];
    int64_t from_ns = INT64_MAX;  // behind the last function of a module that is updated
    const auto [begin, end] = Within(functions_, mark.start_ns, mark.end_ns);
    for (auto part = begin; part != end; ++part) {
      if (updated.Holds(store_, part->module)) from_ns = part->start_ns + 1;
    }
    if (from_ns == INT64_MAX) return;
    const auto add = [&](const Parts& parts, int64_t Cost::*cost) {
      const auto [first, last] = Within(parts, mark.start_ns, mark.end_ns);
      for (auto part = first; part != last; ++part) {
        if (!zeroed || (part->start_ns < from_ns && !IsApart(part->root))) {
          AddUnheld(*part, unheld_cost_.*cost);
          continue;
        }
        if (updated.Holds(store_, part->module)) continue;
        costs_[{part->root.value, stepped.front().value}].*cost += part->cost_ns;
      }
    };
    add(functions_, &Cost::cpu_ns);
    if (owners_.total_ns != 0) add(work_, &Cost::gpu_ns);
  }

  void AddUnheld(const BackwardPart& part, int64_t& cost_ns) {
    if (part.weight_share == 0 || unheld_.empty() || !unheld_.Holds(part.module)) return;
    cost_ns += std::llround(part.weight_share * double(part.cost_ns));
  }

  Updated& UpdatedBy(const std::vector<StringId>& stepped) {
    std::vector<uint32_t> key;
    for (const StringId name : stepped) key.push_back(name.value);
    const auto [found, added] = updated_.try_emplace(key);
    if (!added) return found->second;
    for (const StringId name : stepped) {
      const auto paths = updates_.find(name.value);
      if (paths == updates_.end()) {  // one that may step anything
        found->second.paths.clear();
        break;
      }
      std::copy(paths->second.begin(), paths->second.end(),
                std::back_inserter(found->second.paths));
    }
    return found->second;
  }

  struct Cost {
    int64_t cpu_ns = 0, gpu_ns = 0;
  };
  using Parts = std::vector<BackwardPart>;
  static std::pair<Parts::const_iterator, Parts::const_iterator> Within(const Parts& parts,
                                                                        int64_t from_ns,
                                                                        int64_t until_ns) {
    const auto before = [](const BackwardPart& part, int64_t time) { return part.start_ns < time; };
    return {std::lower_bound(parts.begin(), parts.end(), from_ns, before),
            std::lower_bound(parts.begin(), parts.end(), until_ns, before)};
  }

  UnusedGradients Most() const {
    UnusedGradients unused;
    unused.unheld_ns = owners_.total_ns == 0 ? unheld_cost_.cpu_ns : unheld_cost_.gpu_ns;
    unused.unheld_cpu_ns = unheld_cost_.cpu_ns;
    int64_t most_ns = 0;
    for (const auto& [of, cost] : costs_) {
      const int64_t cost_ns = owners_.total_ns == 0 ? cost.cpu_ns : cost.gpu_ns;
      unused.cost_ns += cost_ns;
      unused.cpu_ns += cost.cpu_ns;
      if (cost_ns <= most_ns) continue;
      most_ns = cost_ns;
      unused.root = StringId{of.first};
      unused.optimizer = StringId{of.second};
    }
    if (most_ns == 0) return unused;
    unused.apart = IsApart(unused.root);
    SetPlace(unused);
    for (const auto& [optimizer, paths] : updates_) {
      const bool steps_it = StepsPartOf(unused.root, paths);
      if (optimizer != unused.optimizer.value) {
        unused.updated_elsewhere |= steps_it;
        continue;
      }
      unused.in_part = steps_it;
      for (const std::string_view path : paths) {
        unused.stepped += (unused.stepped.empty() ? "`" : ", `") + std::string(path) + '`';
      }
    }
    return unused;
  }

  void SetPlace(UnusedGradients& unused) const {
    const ModuleCallsTable& modules = store_.module_calls;
    const auto found = std::find(modules.path.begin(), modules.path.end(), unused.root);
    if (found == modules.path.end()) return;
    const auto call = static_cast<uint32_t>(found - modules.path.begin());
    const uint32_t model = RootCallOf(call);
    unused.nested = model != call;
    unused.named_from_model =
        IsAtOrBelow(store_.Text(unused.root), store_.Text(modules.path[model]));
  }

  // Whether one of the paths is a module that runs inside of that root.
  bool StepsPartOf(StringId root, const std::vector<std::string_view>& paths) const {
    std::unordered_set<uint32_t> looked_at;
    for (const BackwardPart& part : functions_) {
      if (part.root != root || !looked_at.insert(part.module.value).second) continue;
      const std::string_view module = store_.Text(part.module);
      for (const std::string_view path : paths) {
        if (IsAtOrBelow(module, path)) return true;
      }
    }
    return false;
  }

  const Store& store_;
  const ProcessSteps& main_;
  const PhaseMarks& marks_;
  const BackwardLinks& links_;
  const Attribution& owners_;
  std::vector<PhaseMark> backwards_, optimizers_, zeros_;
  std::map<uint32_t, std::vector<std::string_view>> updates_;  // by name of the step
  std::map<std::vector<uint32_t>, Updated> updated_;           // by names of the steps
  Parts functions_, work_;                                     // by start
  std::optional<PartsApart> apart_;                            // none: not known
  std::unordered_map<uint32_t, bool> accumulations_;           // by name of an operator
  std::map<std::pair<uint32_t, uint32_t>, Cost> costs_;        // by root and name of the step
  UnheldParameters unheld_;
  Cost unheld_cost_;
  std::unordered_map<uint32_t, double> weight_shares_;  // by name of an operator
};

}  // namespace

UnusedGradients FindUnusedGradients(const Store& store, const ProcessSteps* main,
                                    const PhaseMarks& marks, const BackwardLinks& links,
                                    const Attribution& work) {
  if (main == nullptr || main->thread.IsNone() || main->steady.empty()) return {};
  return UnusedGradientFinder(store, *main, marks, links, work).Find();
}

}  // namespace batchlight
