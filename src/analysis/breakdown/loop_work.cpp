#include "analysis/breakdown/loop_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/breakdown/freed_batches.h"
#include "analysis/breakdown/phase_stretches.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/quantile.h"
#include "analysis/numbers/time_span.h"
#include "analysis/owners/autograd_numbers.h"
#include "analysis/steps/loop_span.h"

namespace batchlight {
namespace {

// What stands before or behind a gap: a phase, or an operator by its name.
using Edge = std::pair<PhaseKind, StringId>;
// A range of the user around a gap, or both of its edges.
struct Place {
  StringId range;
  Edge before, after;

  friend auto operator<=>(const Place&, const Place&) = default;
};
struct Spent {
  int64_t ns = 0;
  uint64_t count = 0;
  TimeSpan longest{};
};

// Python of this part of the median step and more, and so many times the median step's, is work of
// its own: done in some steps only.
constexpr double kLeastRare = 0.3;
constexpr double kRareTimes = 3;
// On the stack for so much of the loop, a function runs it.
constexpr double kRunsTheLoop = 0.9;

bool IsOpen(PhaseKind kind) { return kind == PhaseKind::kOther || kind == PhaseKind::kUserRange; }

class Search {
 public:
  Search(const StepInputs& inputs, const ProcessSteps& steps, const CodeSamples& samples)
      : store_(inputs.store),
        operators_(store_.operator_calls),
        inputs_(inputs),
        steps_(steps),
        samples_(samples) {}

  LoopWork Run() {
    const ThreadSpans::Rows rows = inputs_.operator_rows.Of(steps_.thread);
    if (rows.empty()) return {};
    row_ = rows.begin;
    end_ = rows.end;
    const auto first = operators_.sequence.begin();
    knows_sequence_ = std::any_of(first + rows.begin, first + rows.end,
                                  [](int64_t sequence) { return sequence >= 0; });
    python_of_step_.resize(steps_.steps.size());
    std::vector<bool> steady(steps_.steps.size());
    for (const uint32_t step : steps_.steady) steady[step] = true;
    Edge before, last;  // of the stretch before the open one, and of that one
    std::optional<PhaseStretch> open;
    const auto walk_open = [&](const Edge& after) {
      if (open) Walk(*open, before, after);
      open.reset();
    };
    VisitPhaseStretches(inputs_, steps_, [&](const PhaseStretch& stretch) {
      const Edge edge{stretch.kind, stretch.range};
      walk_open(edge);
      if (stretch.kind == PhaseKind::kDataLoading && steady[stretch.step]) {
        AddSpan(loading_spans_, stretch.start_ns, stretch.end_ns);
      }
      if (IsOpen(stretch.kind) && steady[stretch.step]) {
        before = last;
        open = stretch;
      }
      last = edge;
    });
    walk_open({});
    return Collect();
  }

 private:
  bool IsRecordFunction(uint32_t row) const {
    return operators_.scope[row] == OperatorScope::kUser;
  }

  int64_t EndOf(uint32_t row) const {
    return ClosedEnd(store_, operators_.start_ns[row], operators_.end_ns[row]);
  }

  // The operators of a stretch and the gaps between them, in order.
  void Walk(const PhaseStretch& stretch, Edge before, const Edge& after) {
    for (; row_ < end_ && operators_.start_ns[row_] < stretch.start_ns; ++row_) {
      if (!IsRecordFunction(row_)) inside_until_ns_ = std::max(inside_until_ns_, EndOf(row_));
    }
    int64_t at = std::clamp(inside_until_ns_, stretch.start_ns, stretch.end_ns);
    for (; row_ < end_ && operators_.start_ns[row_] < stretch.end_ns; ++row_) {
      const uint32_t row = row_;
      if (IsRecordFunction(row) || EndOf(row) <= at) continue;
      inside_until_ns_ = std::max(inside_until_ns_, EndOf(row));
      const int64_t start_ns = std::max(at, operators_.start_ns[row]);
      const int64_t end_ns = std::min(EndOf(row), stretch.end_ns);
      const Edge edge{PhaseKind::kOther, operators_.name[row]};
      const int64_t called_ns = AddGap(stretch, at, start_ns, before, edge);
      if (knows_sequence_ && !IsFollowed(store_, row)) {
        Spent& spent = loose_[operators_.name[row]];
        spent.ns += end_ns - start_ns + called_ns;
        AddSpan(loose_spans_, start_ns - called_ns, end_ns);
        ++spent.count;
        KeepLonger(spent.longest, {start_ns, end_ns});
      }
      before = edge;
      at = end_ns;
    }
    AddGap(stretch, at, stretch.end_ns, before, after);
  }

  // The part of the gap that belongs to calling the operator behind it.
  int64_t AddGap(const PhaseStretch& stretch, int64_t from_ns, int64_t to_ns, const Edge& before,
                 const Edge& after) {
    const int64_t own_ns = to_ns - from_ns - kOperatorGapNs;
    if (own_ns <= 0) return std::max<int64_t>(0, to_ns - from_ns);
    python_of_step_[stretch.step] += own_ns;
    AddSpan(python_spans_, from_ns, to_ns);
    python_steps_.resize(python_spans_.size(), stretch.step);
    Spent& spent =
        places_[stretch.kind == PhaseKind::kUserRange
                    ? Place{.range = stretch.range, .before = {}, .after = {}}
                    : Place{.range = StringId::None(), .before = before, .after = after}];
    spent.ns += own_ns;
    ++spent.count;
    KeepLonger(spent.longest, {from_ns, to_ns});
    return kOperatorGapNs;
  }

  std::string EdgeText(const Edge& edge) const {
    if (edge.first == PhaseKind::kOther && !edge.second.IsNone()) {
      return "`" + std::string(store_.Text(edge.second)) + "`";
    }
    if (edge.first == PhaseKind::kUserRange) {
      return "range `" + std::string(store_.Text(edge.second)) + "`";
    }
    return std::string(PhaseKindName(edge.first));
  }

  std::string PlaceText(const Place& place) const {
    if (!place.range.IsNone()) return NameWithoutNumbers(store_.Text(place.range));
    return "between " + EdgeText(place.before) + " and " + EdgeText(place.after);
  }

  static void Sort(std::vector<WorkPlace>* places) {
    std::stable_sort(places->begin(), places->end(),
                     [](const auto& a, const auto& b) { return a.per_step_ns > b.per_step_ns; });
  }

  // Steps that do far more of it than the median step does.
  std::vector<bool> RareSteps(RarePython& rare) const {
    std::vector<int64_t> python_ns;
    for (const uint32_t step : steps_.steady) python_ns.push_back(python_of_step_[step]);
    const int64_t usual_ns = LowerQuantile(python_ns, 0.5);
    const double least_ns =
        std::max(kLeastRare * double(steps_.duration.median), kRareTimes * double(usual_ns));
    std::vector<bool> is_rare(steps_.steps.size());
    for (const uint32_t step : steps_.steady) {
      if (double(python_of_step_[step]) < least_ns) continue;
      is_rare[step] = true;
      ++rare.steps;
      rare.per_step_ns += double(python_of_step_[step] - usual_ns) / double(steps_.steady.size());
    }
    return is_rare;
  }

  RarePython FindRare() const {
    RarePython rare;
    const std::vector<bool> is_rare = RareSteps(rare);
    std::vector<TimeSpan> spans;
    for (size_t i = 0; i < python_spans_.size(); ++i) {
      if (is_rare[python_steps_[i]]) spans.push_back(python_spans_[i]);
    }
    rare.functions = samples_.During(steps_.thread, spans);
    return rare;
  }

  // Functions that are on nearly all stacks of the loop.
  std::map<FunctionName, int64_t> RunningTheLoop(const std::vector<TimeSpan>& whole,
                                                 int64_t whole_ns) const {
    std::map<FunctionName, int64_t> functions = samples_.OnStacks(steps_.thread, whole);
    std::erase_if(functions, [&](const auto& function) {
      return double(function.second) < kRunsTheLoop * double(whole_ns);
    });
    return functions;
  }

  LoopWork Collect() const {
    LoopWork work;
    const auto count = double(steps_.steady.size());
    std::vector<double> shares;
    for (const uint32_t step : steps_.steady) {
      const auto step_ns = double(std::max<int64_t>(1, steps_.steps[step].duration_ns()));
      shares.push_back(double(python_of_step_[step]) / step_ns);
    }
    if (shares.empty()) return work;
    work.python.per_step_ns = Quantile(shares, 0.5) * steps_.duration.mean;
    std::map<std::string, WorkPlace> by_name;  // ranges that differ by a number are one
    for (const auto& [place, spent] : places_) {
      WorkPlace& sum = by_name[PlaceText(place)];
      sum.is_range = !place.range.IsNone();
      sum.per_step_ns += double(spent.ns) / count;
      sum.count += spent.count;
      KeepLonger(sum.longest, spent.longest);
    }
    for (auto& [name, place] : by_name) {
      place.name = name;
      work.python.places.push_back(std::move(place));
    }
    for (const auto& [name, spent] : loose_) {
      work.operators.calls_per_step += double(spent.count) / count;
      work.operators.per_step_ns += double(spent.ns) / count;
      work.operators.operators.push_back({.name = std::string(store_.Text(name)),
                                          .per_step_ns = double(spent.ns) / count,
                                          .count = spent.count,
                                          .longest = spent.longest});
    }
    Sort(&work.python.places);
    if (!samples_.empty()) {
      const std::vector<TimeSpan> whole = {SpanOfLoop(steps_.steps).whole};
      work.python.whole = samples_.During(steps_.thread, whole);
      const auto loop = RunningTheLoop(whole, work.python.whole.all_ns);
      work.python.functions = samples_.OfProgram(loop, steps_.thread, python_spans_);
      work.python.of_packages = samples_.OfPackages(loop, steps_.thread, python_spans_);
      work.python.freeing_ns = double(FreeingNs(store_, steps_, samples_, python_spans_)) / count;
      work.python.rare = FindRare();
      work.hot = FindHotFunction(inputs_, steps_, samples_);
      work.operators.functions = samples_.During(steps_.thread, loose_spans_);
      work.loading = samples_.During(steps_.thread, loading_spans_);
      work.loading_stacks = samples_.OnStacks(steps_.thread, loading_spans_);
    }
    Sort(&work.operators.operators);
    return work;
  }

  const Store& store_;
  const OperatorCallsTable& operators_;
  const StepInputs& inputs_;
  const ProcessSteps& steps_;
  const CodeSamples& samples_;
  uint32_t row_ = 0;  // of operator_calls: the first that starts in the next stretch or later
  int64_t inside_until_ns_ = INT64_MIN;  // end of the operators that started before it
  uint32_t end_ = 0;
  bool knows_sequence_ = false;  // imports may have none
  std::vector<int64_t> python_of_step_;
  std::vector<TimeSpan> python_spans_;
  std::vector<uint32_t> python_steps_;  // of each of these
  std::vector<TimeSpan> loading_spans_;
  std::vector<TimeSpan> loose_spans_;
  std::map<Place, Spent> places_;
  std::map<StringId, Spent> loose_;
};

}  // namespace

LoopWork FindLoopWork(const StepInputs& inputs, const StepSet& steps) {
  const ProcessSteps* main = steps.Main();
  if (main == nullptr || main->thread.IsNone()) return {};
  const CodeSamples samples(inputs.store);
  LoopWork work = Search(inputs, *main, samples).Run();
  work.beside = FindBesideModel(inputs, *main, samples);
  return work;
}

}  // namespace batchlight
