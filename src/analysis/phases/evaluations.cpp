#include "analysis/phases/evaluations.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/numbers/quantile.h"
#include "analysis/numbers/time_span.h"
#include "analysis/phases/loop_events.h"
#include "analysis/phases/unlearned_calls.h"

namespace batchlight {
namespace {

using Kind = LoopEventKind;

// Fewer are a check before the training, or a model that looks at its own output once more.
constexpr size_t kLeastRollouts = 3;
constexpr int64_t kLeastCallsOfRollout = 8;
// As many on both sides, with gradients on and off, are two things.
constexpr size_t kLeastAlike = 8;
// Of one module in a row, with gradients on, that nothing learns from: fewer are looks at it.
constexpr size_t kLeastUnlearned = 3;
// More than in most iterations: whole episodes, where the loop acts once in each.
constexpr int64_t kTimesUsual = 8;
// Operators that follow each other so closely do one thing, or by a tenth of what went before.
constexpr int64_t kNearNs = 2'000'000;

// Calls of one evaluation, with nothing of training between them.
// Or, where a policy plays with gradients on and then makes samples without, of one of the two.
struct Stretch {
  size_t first = 0;  // of the events
  size_t last = 0;
  size_t calls = 0;
  int64_t all_ns = 0;   // in its calls
  int64_t eval_ns = 0;  // in those in eval mode
  bool own_loader = false;
  bool of_trained = false;  // calls a module that is trained
  bool unlearned = false;   // has calls with gradients on, in train mode
  bool has_loss = false;
  int64_t measured_ns = INT64_MIN;  // when a metric of its last call was read; INT64_MIN: none was
  StringId path;                    // of its first call
  uint32_t step = 0;                // updates before it

  // A loss, which is a module in train mode, does not make it something else.
  bool eval_mode() const { return eval_ns * 10 >= all_ns * 9; }
};

// What is called alike, stretch by stretch.
struct Habit {
  std::set<uint32_t> steps;  // before the stretches
  std::vector<size_t> stretches;
};

// What an outermost module calls itself, by paths: the model in DistributedDataParallel.
using PartsOfRoots = std::unordered_map<uint32_t, std::unordered_set<uint32_t>>;

PartsOfRoots FindParts(const ModuleCallsTable& calls) {
  PartsOfRoots parts;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.parent[row].IsNone()) continue;
    const size_t parent = calls.parent[row].row();
    if (!calls.parent[parent].IsNone()) continue;
    parts[calls.path[parent].value].insert(calls.path[row].value);
  }
  return parts;
}

class ThreadEvaluations {
 public:
  // `operators`: rows of the thread.
  ThreadEvaluations(const Store& store, ThreadSpans::Rows operators, LoopEvents events,
                    const PartsOfRoots& parts, bool modes_known)
      : store_(store),
        operators_(operators),
        events_(std::move(events.rows)),
        losses_(std::move(events.losses)),
        metrics_(std::move(events.metrics)),
        steps_(events.steps),
        is_evaluation_(events_.size()) {
    modes_known ? FindByMode() : FindByCount();
    for (const StringId path : events.in_closures) trained_.insert(path.value);
    FindTrained(parts);
    FindFeeds();
    JoinStretches();
  }

  // Marks without their thread.
  std::vector<PhaseMark> Run() const {
    std::map<std::tuple<uint32_t, bool, bool>, Habit> habits;
    for (size_t i = 0; i < stretches_.size(); ++i) {
      const Stretch& stretch = stretches_[i];
      Habit& habit = habits[{stretch.path.value, stretch.eval_mode(), IsPlayed(stretch)}];
      habit.steps.insert(stretches_[i].step);
      habit.stretches.push_back(i);
    }
    std::vector<TimeSpan> validations, pauses, parts;
    for (auto& [key, habit] : habits) {
      for (const Stretch& stretch : TakeLong(habit)) validations.push_back(WithMetrics(stretch));
      if (IsRollout(habit)) {
        for (const size_t i : habit.stretches) {
          (StandsInMost(habit) ? parts : pauses).push_back(Extent(stretches_[i]));
        }
      } else if (IsValidation(habit)) {
        for (const size_t i : habit.stretches) {
          if (IsLongEnough(stretches_[i]) && !MayFill(stretches_[i]))
            validations.push_back(WithMetrics(stretches_[i]));
        }
      }
    }
    std::vector<PhaseMark> found;
    Add(std::move(validations), {.kind = PhaseKind::kValidation}, found);
    Add(std::move(pauses), {.kind = PhaseKind::kRollout}, found);
    Add(std::move(parts), {.kind = PhaseKind::kRollout, .of_step = true}, found);
    return found;
  }

 private:
  static void Add(std::vector<TimeSpan> spans, PhaseMark mark, std::vector<PhaseMark>& found) {
    mark.implied = true;
    for (const TimeSpan& span : UnionOf(std::move(spans))) {
      mark.start_ns = span.start_ns;
      mark.end_ns = span.end_ns;
      found.push_back(mark);
    }
  }

  bool IsCall(size_t i) const { return events_[i].kind == Kind::kCall; }

  void FindByMode() {
    FindUnlearned();
    // From the end: whether a backward comes before anything else that ends an iteration.
    bool learns = false;
    for (size_t i = events_.size(); i-- > 0;) {
      const LoopEvent& event = events_[i];
      if (event.kind == Kind::kBackward) learns = true;
      if (event.kind == Kind::kOptimizer || event.kind == Kind::kTrainMode) learns = false;
      if (event.kind != Kind::kCall) continue;
      if (event.no_grad || (event.eval_mode && !learns)) is_evaluation_[i] = true;
      // What stands before a call that learns, in train mode, is not learned from by its backward.
      if (!event.no_grad && !event.eval_mode) learns = false;
    }
  }

  // Rows of calls with gradients on that no backward comes back to, of one module or of several in
  // turn (an encoder and its decoder; a model in eval mode and its loss).
  void FindUnlearned() {
    size_t first = 0;
    std::unordered_map<uint32_t, size_t> calls;  // of the row so far, by path
    const auto end = [&](size_t i) {
      const bool is_row = std::any_of(calls.begin(), calls.end(), [](const auto& of_path) {
        return of_path.second >= kLeastUnlearned;
      });
      for (size_t k = first; k < i && is_row; ++k) {
        is_evaluation_[k] = is_evaluation_[k] || IsCall(k);
      }
      calls.clear();
    };
    for (size_t i = 0; i < events_.size(); ++i) {
      if (IsCall(i) && events_[i].unlearned && !events_[i].eval_mode) {
        if (calls.empty()) first = i;
        ++calls[events_[i].path.value];
      } else if (IsCall(i) ? !events_[i].unlearned : !Joins(i)) {
        end(i);
      }
    }
    end(events_.size());
  }

  // Without modes: in an iteration with more calls of a module than are usual, the first ones.
  void FindByCount() {
    if (steps_ < 5) return;
    std::unordered_map<uint32_t, std::vector<std::vector<size_t>>> calls;  // by path, gap
    for (size_t i = 0; i < events_.size(); ++i) {
      if (!IsCall(i)) continue;
      auto& of_path = calls[events_[i].path.value];
      of_path.resize(steps_ + 1);
      of_path[events_[i].step].push_back(i);
    }
    for (const auto& [path, by_gap] : calls) {
      std::vector<int64_t> counts;
      for (size_t gap = 1; gap < steps_; ++gap) {
        counts.push_back(static_cast<int64_t>(by_gap[gap].size()));
      }
      const auto usual = static_cast<size_t>(MedianOf(std::move(counts)));
      if (usual == 0) continue;
      for (size_t gap = 0; gap <= steps_; ++gap) {
        const size_t own = gap == steps_ ? 0 : usual;
        if (by_gap[gap].size() < own + std::max<size_t>(2, own)) continue;
        for (size_t i = 0; i + own < by_gap[gap].size(); ++i) is_evaluation_[by_gap[gap][i]] = true;
      }
    }
  }

  static int64_t MedianOf(std::vector<int64_t> values) {
    return values.empty() ? 0 : LowerQuantile(values, 0.5);
  }

  // With the parts of a trained model: the unwrapped one may be called for a validation.
  void FindTrained(const PartsOfRoots& parts) {
    for (size_t i = 0; i < events_.size(); ++i) {
      if (IsCall(i) && !is_evaluation_[i]) trained_.insert(events_[i].path.value);
    }
    const std::unordered_set<uint32_t> roots = trained_;
    for (const uint32_t root : roots) {
      const auto of_root = parts.find(root);
      if (of_root == parts.end()) continue;
      trained_.insert(of_root->second.begin(), of_root->second.end());
    }
  }

  // The batches that the training takes: it comes before anything else is loaded.
  void FindFeeds() {
    feeds_.resize(events_.size());
    size_t count = 0;
    bool trains = false;
    for (size_t i = events_.size(); i-- > 0;) {
      const Kind kind = events_[i].kind;
      trains |= kind == Kind::kBackward || kind == Kind::kOptimizer;
      trains |= IsCall(i) && !is_evaluation_[i];
      if (kind != Kind::kLoaderStart && kind != Kind::kLoaderNext) continue;
      feeds_[i] = trains && kind == Kind::kLoaderNext;
      count += feeds_[i];
      trains = false;
    }
    if (count * 2 < steps_) feeds_.clear();  // what is loaded is not what is learned
  }

  bool Feeds(size_t i) const { return !feeds_.empty() && feeds_[i]; }

  // Whether what is loaded right before the stretch is no batch of it: the loader of the training
  // has none any more, since that one goes on with a new iterator, if at all.
  bool EndsTraining(size_t load, const Stretch& stretch) const {
    if (feeds_.empty()) return false;
    const auto is = [&](size_t i, Kind kind) { return events_[i].kind == kind; };
    size_t before = load;
    while (before > 0 && is(before - 1, Kind::kEvalMode)) --before;
    if (before == 0 || is(before - 1, Kind::kLoaderStart)) return false;
    for (size_t i = stretch.first; i < stretch.last; ++i) {
      if (is(i, Kind::kLoaderNext)) return false;
    }
    size_t next = stretch.last + 1;
    while (next < events_.size() && (is(next, Kind::kEvalMode) || is(next, Kind::kTrainMode) ||
                                     is(next, Kind::kCheckpoint))) {
      ++next;
    }
    return next == events_.size() || is(next, Kind::kLoaderStart);
  }

  // What may stand between the calls of one evaluation.
  bool Joins(size_t i) const {
    switch (events_[i].kind) {
      case Kind::kCall:
        return is_evaluation_[i];
      case Kind::kLoaderStart:
      case Kind::kLoaderNext:
      case Kind::kEvalMode:
      case Kind::kCheckpoint:
        return true;
      default:
        return false;
    }
  }

  // Calls of an evaluation in a row from the event on, all with gradients off or all with them on;
  // no more are counted than change what it is.
  size_t AlikeFrom(size_t i) const {
    const bool no_grad = events_[i].no_grad;
    size_t count = 0;
    for (; i < events_.size() && Joins(i) && count < kLeastAlike; ++i) {
      if (!IsCall(i)) continue;
      if (events_[i].no_grad != no_grad) break;
      ++count;
    }
    return count;
  }

  void JoinStretches() {
    bool open = false;
    size_t alike = 0;  // calls in a row up to here
    bool no_grad = false;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (!Joins(i)) open = false;
      if (!IsCall(i) || !is_evaluation_[i]) continue;
      const LoopEvent& call = events_[i];
      if (open && call.no_grad != no_grad) {
        open = alike < kLeastAlike || AlikeFrom(i) < kLeastAlike;
      }
      alike = open && call.no_grad == no_grad ? alike + 1 : 1;
      no_grad = call.no_grad;
      if (!open) {
        stretches_.push_back({.first = i, .path = call.path, .step = call.step});
        open = true;
      }
      Stretch& stretch = stretches_.back();
      stretch.last = i;
      ++stretch.calls;
      const int64_t ns = std::max<int64_t>(1, call.end_ns - call.start_ns);
      stretch.all_ns += ns;
      if (call.eval_mode) stretch.eval_ns += ns;
      stretch.unlearned |= !call.eval_mode && !call.no_grad;
      stretch.of_trained |= trained_.contains(call.path.value);
    }
    for (Stretch& stretch : stretches_) {
      for (size_t i = FirstOf(stretch); i < stretch.last; ++i) {
        stretch.own_loader |= events_[i].kind == Kind::kLoaderStart;
      }
      stretch.has_loss = HasLoss(events_[stretch.first].start_ns, events_[stretch.last].end_ns);
      stretch.measured_ns = MeasuredNs(stretch);
    }
  }

  // The first metric that was read behind its last call, before what the loop does next.
  int64_t MeasuredNs(const Stretch& stretch) const {
    const size_t next = stretch.last + 1;
    const int64_t until_ns = next < events_.size() ? events_[next].start_ns : INT64_MAX;
    const auto read =
        std::lower_bound(metrics_.begin(), metrics_.end(), events_[stretch.last].end_ns);
    return read == metrics_.end() || *read >= until_ns ? INT64_MIN : *read;
  }

  bool HasLoss(int64_t from_ns, int64_t to_ns) const {
    const auto loss = std::lower_bound(losses_.begin(), losses_.end(), from_ns);
    return loss != losses_.end() && *loss < to_ns;
  }

  template <typename Test>
  bool Any(const Habit& habit, const Test& test) const {
    return std::any_of(habit.stretches.begin(), habit.stretches.end(),
                       [&](size_t i) { return test(stretches_[i]); });
  }

  size_t Gaps() const { return steps_ > 1 ? steps_ - 1 : 1; }

  // Between how many updates such calls stand.
  size_t Inner(const Habit& habit) const {
    return static_cast<size_t>(
        std::count_if(habit.steps.begin(), habit.steps.end(),
                      [&](uint32_t gap) { return gap > 0 && gap < steps_; }));
  }

  bool StandsInMost(const Habit& habit) const { return Inner(habit) * 2 > Gaps(); }

  // What is called to prepare the updates that follow.
  bool Prepares(const Habit& habit) const {
    return habit.steps.contains(0) && !habit.steps.contains(steps_);
  }

  // Takes the stretches that are much longer than those of most iterations out of a habit: whole
  // episodes that are played now and then, where the loop acts once in each. Nothing where they may
  // be what the updates behind them learn from. Without the calls that belong to the iteration as
  // in any other.
  std::vector<Stretch> TakeLong(Habit& habit) const {
    std::vector<int64_t> calls;
    for (const size_t i : habit.stretches) {
      calls.push_back(static_cast<int64_t>(stretches_[i].calls));
      if (stretches_[i].eval_mode() || !stretches_[i].of_trained) return {};
    }
    const int64_t usual = MedianOf(calls);
    if (usual >= kLeastCallsOfRollout || !StandsInMost(habit)) return {};
    Habit longer, rest;
    for (const size_t i : habit.stretches) {
      const bool is_long =
          int64_t(stretches_[i].calls) >= kTimesUsual * std::max<int64_t>(usual, 1);
      (is_long ? longer : rest).steps.insert(stretches_[i].step);
      (is_long ? longer : rest).stretches.push_back(i);
    }
    if (longer.stretches.empty() || Prepares(longer) || Inner(longer) * 4 > Gaps()) return {};
    habit = rest;
    std::vector<Stretch> taken;
    for (const size_t i : longer.stretches) {
      const bool is_end = stretches_[i].step == steps_;  // no iteration begins behind it
      if (stretches_[i].step > 0) taken.push_back(WithoutLast(stretches_[i], is_end ? 0 : usual));
    }
    return taken;
  }

  Stretch WithoutLast(Stretch stretch, int64_t calls) const {
    for (; calls > 0 && stretch.last > stretch.first; --calls) {
      do --stretch.last;
      while (stretch.last > stretch.first && !IsCall(stretch.last));
      --stretch.calls;
    }
    return stretch;
  }

  // The model that learns is called many times, each time before it does, without a DataLoader:
  // it makes its own samples. Who computes a loss has samples already, and looks how well it does.
  bool IsRollout(const Habit& habit) const {
    if (!Prepares(habit) || habit.stretches.size() < kLeastRollouts) return false;
    if (Any(habit, [](const Stretch& s) { return s.has_loss || s.unlearned; })) return false;
    if (!Any(habit, [](const Stretch& s) { return s.of_trained; })) return false;
    if (Any(habit, [](const Stretch& s) { return s.own_loader; })) return false;
    std::vector<int64_t> calls;
    for (const size_t i : habit.stretches) {
      calls.push_back(static_cast<int64_t>(stretches_[i].calls));
    }
    return MedianOf(std::move(calls)) >= kLeastCallsOfRollout;
  }

  bool IsValidation(const Habit& habit) const {
    const bool of_trained = Any(habit, [](const Stretch& s) { return s.of_trained; });
    const bool eval_mode = stretches_[habit.stretches.front()].eval_mode();
    const size_t gaps = Gaps();
    const size_t inner = Inner(habit);
    const bool prepares = Prepares(habit);
    if (eval_mode && of_trained) return !(prepares && inner * 2 > gaps && gaps >= 3);
    if (Any(habit, [](const Stretch& s) { return s.own_loader; }))
      return inner * 2 <= gaps || gaps < 3;
    return inner * 4 <= gaps && !prepares;
  }

  // Beside what is called with gradients off: as many calls with them on as are a thing of its own.
  static bool IsPlayed(const Stretch& stretch) {
    return stretch.unlearned && stretch.calls >= kLeastAlike;
  }
  // One call with gradients off, in train mode, of which no number is read is a look at the model
  // (a picture, a sample).
  static bool IsLongEnough(const Stretch& stretch) {
    return stretch.eval_mode() || stretch.own_loader || stretch.calls >= 2 || IsMeasured(stretch);
  }
  // What calls the model with gradients on before the first update may fill a replay memory.
  static bool MayFill(const Stretch& stretch) { return stretch.unlearned && stretch.step == 0; }
  static bool IsMeasured(const Stretch& stretch) { return stretch.measured_ns != INT64_MIN; }

  // The event that opens the stretch: the switch to eval mode or the loader's start before its
  // first call, else the loading of its first batch, which is none that the training asked for,
  // else that call.
  size_t FirstOf(const Stretch& stretch) const {
    size_t opens = stretch.first;
    for (size_t i = stretch.first; i-- > 0;) {
      const Kind kind = events_[i].kind;
      if (kind == Kind::kEvalMode || kind == Kind::kLoaderStart) opens = i;
      if (kind == Kind::kLoaderNext && i + 1 == stretch.first) {
        if (Feeds(i) || EndsTraining(i, stretch)) break;
        opens = i;
      }
      if (kind != Kind::kEvalMode && kind != Kind::kLoaderStart && kind != Kind::kLoaderNext) break;
    }
    return opens;
  }

  // To the loader's end, or as far behind the last call as there is between two calls.
  TimeSpan Extent(const Stretch& stretch) const {
    std::vector<int64_t> between;
    int64_t end_ns = events_[stretch.first].end_ns;
    for (size_t i = stretch.first + 1; i <= stretch.last; ++i) {
      if (IsCall(i)) between.push_back(std::max<int64_t>(0, events_[i].start_ns - end_ns));
      end_ns = std::max(end_ns, events_[i].end_ns);
    }
    const int64_t usual_ns = MedianOf(std::move(between));
    const size_t opens = FirstOf(stretch);
    int64_t start_ns = events_[opens].start_ns;
    if (opens == stretch.first) {
      const int64_t before_ns = opens == 0 ? INT64_MIN : events_[opens - 1].end_ns;
      start_ns = std::max(std::min(before_ns, start_ns), start_ns - usual_ns);
    }
    const size_t next = stretch.last + 1;
    const bool loads = next < events_.size() && events_[next].kind == Kind::kLoaderNext;
    if (loads && (stretch.own_loader || !Feeds(next))) {
      end_ns = std::max(end_ns, events_[next].end_ns);
    } else {
      const int64_t after_ns = next < events_.size() ? events_[next].start_ns : INT64_MAX;
      end_ns = std::min(std::max(after_ns, end_ns), end_ns + usual_ns);
      if (stretch.calls == 1) end_ns = std::max(end_ns, stretch.measured_ns);
    }
    return {start_ns, end_ns};
  }

  // What computes a metric of the last call (topk, gather, a confusion matrix) comes behind it,
  // before the model is told to train again.
  TimeSpan WithMetrics(const Stretch& stretch) const {
    TimeSpan span = Extent(stretch);
    const size_t next = stretch.last + 1;
    if (next >= events_.size() || events_[next].kind != Kind::kTrainMode) return span;
    if (events_[FirstOf(stretch)].kind != Kind::kEvalMode) return span;
    const OperatorCallsTable& operators = store_.operator_calls;
    const int64_t until_ns = events_[next].start_ns;
    const auto begin = operators.start_ns.begin();
    const auto last = begin + operators_.end;
    auto row = std::lower_bound(begin + operators_.begin, last, events_[stretch.last].end_ns);
    int64_t end_ns = events_[stretch.last].end_ns;
    for (; row != last && *row < until_ns; ++row) {
      if (*row - end_ns > std::max(kNearNs, (end_ns - span.start_ns) / 10)) break;
      end_ns = std::max(end_ns, std::min(until_ns, operators.end_ns[size_t(row - begin)]));
    }
    span.end_ns = std::max(span.end_ns, end_ns);
    return span;
  }

  const Store& store_;
  ThreadSpans::Rows operators_;
  std::vector<LoopEvent> events_;
  std::vector<int64_t> losses_, metrics_;
  uint32_t steps_;
  std::vector<bool> is_evaluation_;
  std::vector<bool> feeds_;  // by event; empty: the training takes none from a DataLoader
  std::unordered_set<uint32_t> trained_;
  std::vector<Stretch> stretches_;
};

}  // namespace

std::vector<PhaseMark> FindEvaluations(const Store& store, const std::vector<PhaseMark>& marks,
                                       const ThreadSpans& spans) {
  std::vector<bool> modes_known(store.processes.size());
  for (size_t row = 0; row < store.phase_calls.size(); ++row) {
    const ProcessId process = store.ProcessOf(store.phase_calls.thread[row]);
    if (!process.IsNone() && TellsOfLife(store.phase_calls.phase[row])) {
      modes_known[process.row()] = true;
    }
  }
  const ThreadSpans phase_rows(store.phase_calls.thread);
  const ThreadSpans operator_rows(store.operator_calls.thread);
  const PartsOfRoots parts = FindParts(store.module_calls);
  const UnlearnedCalls unlearned(store);
  std::vector<PhaseMark> found;
  for (size_t row = 0; row < spans.thread_count(); ++row) {
    const ThreadId thread = ThreadId::At(row);
    const ProcessId process = store.ProcessOf(thread);
    if (process.IsNone() || spans.Of(thread).empty()) continue;
    LoopEvents events = CollectLoopEvents(store, marks, spans.Of(thread), phase_rows.Of(thread),
                                          operator_rows.Of(thread));
    if (events.steps == 0) continue;
    unlearned.Mark(operator_rows.Of(thread), events.rows);
    const ThreadEvaluations evaluations(store, operator_rows.Of(thread), std::move(events), parts,
                                        modes_known[process.row()]);
    for (PhaseMark& mark : evaluations.Run()) {
      mark.thread = thread;
      found.push_back(mark);
    }
  }
  return found;
}

}  // namespace batchlight
