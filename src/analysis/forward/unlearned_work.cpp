#include "analysis/forward/unlearned_work.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/numbers/closed_end.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// torch.linalg's that take a matrix apart, and their older names. Norms and products are none.
bool IsFactorization(std::string_view name) {
  if (!name.starts_with("aten::")) return false;
  name.remove_prefix(6);
  constexpr std::string_view kLinalg = "linalg_";
  if (name.starts_with(kLinalg)) {
    name.remove_prefix(kLinalg.size());
    for (const std::string_view plain : {"vector_norm", "matrix_norm", "norm", "matmul", "vecdot",
                                         "cross", "multi_dot", "diagonal"}) {
      if (name == plain) return false;
    }
    return true;
  }
  for (const std::string_view old : {"cholesky", "inverse", "pinverse", "svd", "symeig", "qr",
                                     "lu_", "triangular_solve", "matrix_exp", "_linalg_"}) {
    if (name.starts_with(old)) return true;
  }
  return false;
}

class UnlearnedWorkFinder {
 public:
  UnlearnedWorkFinder(const Store& store, const ProcessSteps& main, const PhaseMarks& marks)
      : store_(store),
        operators_(store.operator_calls),
        main_(main),
        marks_(marks),
        in_modules_(store.module_calls.thread, store.module_calls.start_ns,
                    store.module_calls.end_ns) {}

  UnlearnedWork Find() {
    StepLookup steps(&main_);
    const ThreadSpans::Rows rows = ThreadSpans(operators_.thread).Of(main_.thread);
    uint32_t row = rows.begin;
    end_ = rows.end;
    int64_t covered_until_ns = INT64_MIN;
    const ThreadSpans::Rows marks = marks_.RowsOf(main_.thread);
    for (uint32_t at = marks.begin; at < marks.end; ++at) {
      const PhaseMark& mark = marks_.all()[at];
      const bool apart = IsEvaluation(mark.kind) || mark.kind == PhaseKind::kBackward;
      if (apart) covered_until_ns = std::max(covered_until_ns, mark.end_ns);
      if (mark.kind != PhaseKind::kForward || mark.start_ns < covered_until_ns) continue;
      if (!steps.IsSteadyAt(mark.start_ns)) continue;
      covered_until_ns = mark.end_ns;
      while (row < rows.end && operators_.start_ns[row] < mark.start_ns) ++row;
      const uint32_t first = row;
      while (row < rows.end && operators_.start_ns[row] < mark.end_ns) ++row;
      VisitForward(first, row);
    }
    work_.module = ModuleOfLongest();
    for (const auto& [ns, name] : ByFallingTime()) work_.operators.push_back(name);
    work_.plain = PlainByFallingTime();
    return work_;
  }

 private:
  // The outermost operators of one forward.
  void VisitForward(uint32_t first, uint32_t last) {
    uint32_t start = kNoRow, factor = kNoRow;  // of a stretch that autograd does not follow
    uint32_t row = first;
    while (row < last) {
      const int64_t end_ns = EndOf(row);
      uint32_t next = row + 1;
      while (next < last && operators_.start_ns[next] < end_ns) ++next;
      if (IsBackward(row, next)) {  // torch.autograd.grad in forward: of what learns
        Add(start, factor, row);
        start = factor = kNoRow;
      } else if (IsFollowed(row, next)) {
        followed_.push_back(operators_.start_ns[row]);
        Add(start, factor, row);
        start = factor = kNoRow;
      } else {
        if (start == kNoRow) start = row;
        if (IsFactor(row)) {
          factor = row;
          times_[operators_.name[row].value] += end_ns - operators_.start_ns[row];
        }
      }
      row = next;
    }
    Add(start, factor, last);
  }

  bool IsBackward(uint32_t row, uint32_t next) const {
    return std::any_of(operators_.scope.begin() + row, operators_.scope.begin() + next,
                       [](OperatorScope scope) { return scope == OperatorScope::kBackward; });
  }

  // Each node of autograd's graph takes a number; without gradients there are none.
  bool IsFollowed(uint32_t row, uint32_t next) const {
    if (operators_.sequence[row] < 0) return false;
    const auto tells_nothing = [&](uint32_t other) {  // a node's backward has the node's own number
      return operators_.sequence[other] < 0 || operators_.scope[other] == OperatorScope::kBackward;
    };
    while (next < end_ && tells_nothing(next)) ++next;
    return next >= end_ || operators_.sequence[next] > operators_.sequence[row];
  }

  // What comes behind the last factorization is about the batch.
  void Add(uint32_t start, uint32_t factor, uint32_t end) {
    if (start == kNoRow) return;
    if (factor == kNoRow) return AddPlain(start, end);
    const int64_t ns = EndOf(factor) - operators_.start_ns[start];
    work_.ns += ns;
    ++work_.stretches;
    if (ns <= longest_ns_) return;
    longest_ns_ = ns;
    longest_ = factor;
  }

  // The outermost operators of [start, end).
  void AddPlain(uint32_t start, uint32_t end) {
    for (uint32_t row = start; row < end;) {
      const int64_t end_ns = EndOf(row);
      const uint32_t call = in_modules_.Innermost(main_.thread, operators_.start_ns[row]);
      if (call != kNoRow) {
        const uint32_t module = store_.module_calls.path[call].value;
        plain_[module][call][operators_.name[row].value] += end_ns - operators_.start_ns[row];
      }
      for (++row; row < end && operators_.start_ns[row] < end_ns;) ++row;
    }
  }

  std::vector<PlainWork> PlainByFallingTime() const {
    std::vector<PlainWork> plain;
    for (const auto& [module, calls] : plain_) {
      PlainWork work{.module = StringId{module}};
      std::map<uint32_t, int64_t> by_name;
      for (const auto& [call, names] : calls) {
        if (!LearnsIn(call)) continue;
        ++work.calls;
        for (const auto& [name, ns] : names) by_name[name] += ns;
      }
      int64_t most_ns = -1;
      for (const auto& [name, ns] : by_name) {
        work.ns += ns;
        if (ns > most_ns) std::tie(work.operator_name, most_ns) = std::pair(StringId{name}, ns);
      }
      if (work.calls > 0) plain.push_back(work);
    }
    std::stable_sort(plain.begin(), plain.end(),
                     [](const PlainWork& a, const PlainWork& b) { return a.ns > b.ns; });
    return plain;
  }

  // Else the whole call is made without gradients, for a metric or a target: of the batch and of
  // what learns.
  bool LearnsIn(uint32_t call) const {
    const ModuleCallsTable& calls = store_.module_calls;
    const auto first = std::lower_bound(followed_.begin(), followed_.end(), calls.start_ns[call]);
    return first != followed_.end() &&
           *first < ClosedEnd(store_, calls.start_ns[call], calls.end_ns[call]);
  }

  StringId ModuleAt(int64_t at_ns) const {
    const uint32_t call = in_modules_.Innermost(main_.thread, at_ns);
    return call == kNoRow ? StringId() : store_.module_calls.path[call];
  }

  StringId ModuleOfLongest() const {
    return longest_ == kNoRow ? StringId() : ModuleAt(operators_.start_ns[longest_]);
  }

  bool IsFactor(uint32_t row) {
    const StringId name = operators_.name[row];
    const auto [known, added] = is_factor_.try_emplace(name.value, false);
    if (added) known->second = IsFactorization(store_.Text(name));
    return known->second;
  }

  int64_t EndOf(uint32_t row) const {
    return ClosedEnd(store_, operators_.start_ns[row], operators_.end_ns[row]);
  }

  std::vector<std::pair<int64_t, StringId>> ByFallingTime() const {
    std::vector<std::pair<int64_t, StringId>> names;
    for (const auto& [name, ns] : times_) names.emplace_back(ns, StringId{name});
    std::stable_sort(names.begin(), names.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    return names;
  }

  const Store& store_;
  const OperatorCallsTable& operators_;
  const ProcessSteps& main_;
  const PhaseMarks& marks_;
  const IntervalIndex in_modules_;
  UnlearnedWork work_;
  uint32_t end_ = 0;  // of the thread's operators
  int64_t longest_ns_ = 0;
  uint32_t longest_ = kNoRow;           // the last factorization of the longest stretch
  std::map<uint32_t, int64_t> times_;   // of factorizations, by name
  std::map<uint32_t, bool> is_factor_;  // by name
  std::vector<int64_t> followed_;       // starts of outermost operators that autograd follows
  using TimesByName = std::map<uint32_t, int64_t>;
  std::map<uint32_t, std::map<uint32_t, TimesByName>>
      plain_;  // by module, then row of module_calls
};

}  // namespace

UnlearnedWork FindUnlearnedWork(const Store& store, const ProcessSteps* main,
                                const PhaseMarks& marks) {
  if (main == nullptr || main->thread.IsNone() || main->steady.empty()) return {};
  return UnlearnedWorkFinder(store, *main, marks).Find();
}

}  // namespace batchlight
