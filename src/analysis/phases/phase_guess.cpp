#include "analysis/phases/phase_guess.h"

#include <algorithm>

#include "analysis/numbers/closed_end.h"

namespace batchlight {
namespace {

class Guess {
 public:
  Guess(const Store& store, const std::vector<PhaseMark>& marks, const ThreadSpans& spans)
      : store_(store), marks_(marks), spans_(spans), operator_rows_(store.operator_calls.thread) {
    has_modules_.resize(store.processes.size());
    for (const ThreadId thread : store.module_calls.thread) {
      const ProcessId process = store.ProcessOf(thread);
      if (!process.IsNone()) has_modules_[process.row()] = true;
    }
  }

  std::vector<PhaseMark> Run() {
    for (size_t row = 0; row < spans_.thread_count(); ++row) {
      const ThreadId thread = ThreadId::At(row);
      const ThreadSpans::Rows rows = spans_.Of(thread);
      const ProcessId process = store_.ProcessOf(thread);
      if (rows.empty() || process.IsNone()) continue;
      const bool updates = Holds(rows, PhaseKind::kOptimizer);
      if (!updates && !Holds(rows, PhaseKind::kBackward)) continue;
      if (!has_modules_[process.row()]) GuessForward(thread, rows);
      if (!updates) GuessUpdates(thread, rows);
      if (updates && !Holds(rows, PhaseKind::kBackward)) GuessBackward(thread, rows, process);
    }
    return std::move(found_);
  }

 private:
  bool Holds(ThreadSpans::Rows rows, PhaseKind kind) const {
    for (uint32_t i = rows.begin; i < rows.end; ++i) {
      if (marks_[i].kind == kind) return true;
    }
    return false;
  }

  bool HoldsSequences(ThreadSpans::Rows operators) const {
    const std::vector<int64_t>& sequences = store_.operator_calls.sequence;
    return std::any_of(sequences.begin() + operators.begin, sequences.begin() + operators.end,
                       [](int64_t sequence) { return sequence >= 0; });
  }

  // Autograd numbers what it will go back through, and says the next number of all operators that
  // could be: only the last one before the number changes was numbered.
  static bool IsNumbered(const OperatorCallsTable& calls, uint32_t row, uint32_t end) {
    if (calls.sequence[row] < 0 || calls.scope[row] != OperatorScope::kFunction) return false;
    for (uint32_t next = row + 1; next < end; ++next) {
      if (calls.sequence[next] < 0 || calls.scope[next] != OperatorScope::kFunction) continue;
      return calls.sequence[next] != calls.sequence[row];
    }
    return true;
  }

  // A stretch of forward reaches over the gaps between its operators, up to the next mark. Without
  // sequence numbers only what a backward follows is taken for a forward.
  void GuessForward(ThreadId thread, ThreadSpans::Rows rows) {
    const OperatorCallsTable& calls = store_.operator_calls;
    const ThreadSpans::Rows operators = operator_rows_.Of(thread);
    const bool sequences = HoldsSequences(operators);
    uint32_t mark = rows.begin;
    uint32_t opened_at = kNoRow;  // mark that followed when the last stretch began
    int64_t covered_until = INT64_MIN;
    for (uint32_t row = operators.begin; row < operators.end; ++row) {
      const int64_t start = calls.start_ns[row];
      for (; mark < rows.end && marks_[mark].start_ns <= start; ++mark) {
        covered_until = std::max(covered_until, marks_[mark].end_ns);
      }
      const bool followed = sequences
                                ? IsNumbered(calls, row, operators.end)
                                : mark < rows.end && marks_[mark].kind == PhaseKind::kBackward;
      if (!followed || start < covered_until) continue;
      const int64_t end = ClosedEnd(store_, start, calls.end_ns[row]);
      if (opened_at == mark) {
        found_.back().end_ns = std::max(found_.back().end_ns, end);
      } else {
        Add(thread, start, end, PhaseKind::kForward, calls.name[row]);
        opened_at = mark;
      }
    }
  }

  // An update by hand: what runs without gradients behind a backward, and writes in place.
  void GuessUpdates(ThreadId thread, ThreadSpans::Rows rows) {
    const OperatorCallsTable& calls = store_.operator_calls;
    const ThreadSpans::Rows operators = operator_rows_.Of(thread);
    if (!HoldsSequences(operators)) return;
    PhaseMark update{.thread = thread, .kind = PhaseKind::kOptimizer, .implied = true};
    bool open = false, writes = false;
    const auto close = [&] {
      if (open && writes) found_.push_back(update);
      open = writes = false;
    };
    uint32_t mark = rows.begin;
    int64_t covered_until = INT64_MIN;
    bool behind_backward = false;
    for (uint32_t row = operators.begin; row < operators.end; ++row) {
      const int64_t start = calls.start_ns[row];
      for (; mark < rows.end && marks_[mark].start_ns <= start; ++mark) {
        close();
        behind_backward = marks_[mark].kind == PhaseKind::kBackward;
        covered_until = std::max(covered_until, marks_[mark].end_ns);
      }
      if (!behind_backward || start < covered_until) continue;
      if (calls.sequence[row] >= 0) {
        close();
        continue;
      }
      if (!open) {
        update.start_ns = start;
        update.end_ns = start;
        update.name = calls.name[row];
        open = true;
      }
      writes |= store_.Text(calls.name[row]).ends_with('_');
      update.end_ns = std::max(update.end_ns, ClosedEnd(store_, start, calls.end_ns[row]));
    }
    close();
  }

  void GuessBackward(ThreadId thread, ThreadSpans::Rows rows, ProcessId process) {
    std::vector<const PhaseMark*> engine;
    for (const PhaseMark& mark : marks_) {
      if (mark.kind == PhaseKind::kBackward && mark.thread != thread &&
          store_.ProcessOf(mark.thread) == process) {
        engine.push_back(&mark);
      }
    }
    std::stable_sort(engine.begin(), engine.end(), [](const PhaseMark* a, const PhaseMark* b) {
      return a->start_ns < b->start_ns;
    });
    uint32_t mark = rows.begin;
    uint32_t opened_at = kNoRow;
    for (const PhaseMark* work : engine) {
      while (mark < rows.end && marks_[mark].start_ns <= work->start_ns) ++mark;
      if (opened_at == mark) {
        found_.back().end_ns = std::max(found_.back().end_ns, work->end_ns);
      } else {
        Add(thread, work->start_ns, work->end_ns, PhaseKind::kBackward, work->name);
        opened_at = mark;
      }
    }
  }

  void Add(ThreadId thread, int64_t start, int64_t end, PhaseKind kind, StringId name) {
    found_.push_back({.start_ns = start,
                      .end_ns = end,
                      .thread = thread,
                      .name = name,
                      .kind = kind,
                      .implied = true});
  }

  const Store& store_;
  const std::vector<PhaseMark>& marks_;
  const ThreadSpans& spans_;
  ThreadSpans operator_rows_;
  std::vector<bool> has_modules_;
  std::vector<PhaseMark> found_;
};

}  // namespace

std::vector<PhaseMark> GuessPhases(const Store& store, const std::vector<PhaseMark>& marks,
                                   const ThreadSpans& spans) {
  if (store.operator_calls.size() == 0) return {};
  return Guess(store, marks, spans).Run();
}

}  // namespace batchlight
