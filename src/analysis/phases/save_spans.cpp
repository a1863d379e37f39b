#include "analysis/phases/save_spans.h"

#include <algorithm>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

// A longer silence is something else than the file of the save.
constexpr int64_t kMostAroundSave = 4;  // times the save

// The first row of a table in (thread, start) order that starts on the thread at the moment or
// later; where there is none, the one behind the thread's last.
template <typename Table>
size_t FirstRow(const Table& table, ThreadId thread, int64_t from_ns) {
  size_t low = 0, high = table.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const bool before = table.thread[middle] < thread ||
                        (table.thread[middle] == thread && table.start_ns[middle] < from_ns);
    (before ? low : high) = before ? middle + 1 : middle;
  }
  return low;
}

// What was recorded on a thread right before and right after a moment. A call around the moment
// says nothing of the silence inside of it: then there is none.
class Neighbours {
 public:
  Neighbours(const Store& store, ThreadId thread) : store_(store), thread_(thread) {}

  // The end of the last call before; INT64_MIN: none, or one that is still going on.
  int64_t LastBefore(int64_t time_ns) const {
    int64_t ended_ns = INT64_MIN, began_ns = INT64_MIN;
    VisitTables([&](const auto& table) {
      VisitAround(table, time_ns, [&](int64_t start_ns, int64_t end_ns) {
        if (end_ns <= time_ns)
          ended_ns = std::max(ended_ns, end_ns);
        else
          began_ns = std::max(began_ns, start_ns);
      });
    });
    return began_ns > ended_ns ? INT64_MIN : ended_ns;
  }

  // The start of the next call; INT64_MAX: none, or one that goes on ends before.
  int64_t NextAfter(int64_t time_ns) const {
    int64_t starts_ns = INT64_MAX, ends_ns = INT64_MAX;
    VisitTables([&](const auto& table) {
      const size_t row = FirstRow(table, thread_, time_ns);
      if (row < table.size() && table.thread[row] == thread_) {
        starts_ns = std::min(starts_ns, table.start_ns[row]);
      }
      VisitAround(table, time_ns, [&](int64_t, int64_t end_ns) {
        if (end_ns > time_ns) ends_ns = std::min(ends_ns, end_ns);
      });
    });
    return ends_ns < starts_ns ? INT64_MAX : starts_ns;
  }

 private:
  template <typename Visit>
  void VisitTables(Visit&& visit) const {
    visit(store_.operator_calls);
    visit(store_.phase_calls);
    visit(store_.module_calls);
    visit(store_.nvtx_ranges);
  }

  // The last call that starts before the moment, and those around it.
  template <typename Table, typename Visit>
  void VisitAround(const Table& table, int64_t time_ns, Visit&& visit) const {
    size_t row = FirstRow(table, thread_, time_ns);
    if (row == 0 || table.thread[row - 1] != thread_) return;
    for (--row;; row = table.parent[row].row()) {
      visit(table.start_ns[row], ClosedEnd(store_, table.start_ns[row], table.end_ns[row]));
      if (table.parent[row].IsNone()) return;
    }
  }

  const Store& store_;
  ThreadId thread_;
};

// What a loop does silently after an update, whether or not it saves then.
int64_t UsualSilenceNs(const std::vector<PhaseMark>& marks, ThreadId thread,
                       const Neighbours& neighbours) {
  std::vector<int64_t> silences;
  for (const PhaseMark& mark : marks) {
    if (mark.thread != thread || mark.kind != PhaseKind::kOptimizer) continue;
    const int64_t next_ns = neighbours.NextAfter(mark.end_ns);
    if (next_ns != INT64_MAX) silences.push_back(next_ns - mark.end_ns);
  }
  return silences.empty() ? 0 : LowerQuantile(silences, 0.5);
}

void StretchSavesOf(const Store& store, ThreadId thread, const std::vector<PhaseMark*>& saves,
                    const std::vector<PhaseMark>& marks) {
  const Neighbours neighbours(store, thread);
  const int64_t usual_ns = UsualSilenceNs(marks, thread, neighbours);
  int64_t done_ns = INT64_MIN;
  for (PhaseMark* save : saves) {
    const int64_t most_ns = kMostAroundSave * (save->end_ns - save->start_ns);
    int64_t last_ns = neighbours.LastBefore(save->start_ns);
    if (last_ns != INT64_MIN) last_ns = std::max(last_ns, done_ns);
    const int64_t next_ns = neighbours.NextAfter(save->end_ns);
    if (last_ns != INT64_MIN && save->start_ns - last_ns <= most_ns) save->start_ns = last_ns;
    if (next_ns != INT64_MAX && next_ns - save->end_ns <= most_ns) {
      save->end_ns = std::max(save->end_ns, next_ns - usual_ns);
    }
    done_ns = save->end_ns;
  }
}

}  // namespace

void StretchSaves(const Store& store, std::vector<PhaseMark>& marks) {
  std::vector<PhaseMark*> saves;  // of one thread
  const auto flush = [&] {
    if (!saves.empty()) StretchSavesOf(store, saves.front()->thread, saves, marks);
    saves.clear();
  };
  int64_t until_ns = INT64_MIN;
  for (PhaseMark& mark : marks) {
    if (mark.kind != PhaseKind::kCheckpoint || store.Text(mark.name) == "torch.load") continue;
    if (!saves.empty() && saves.front()->thread != mark.thread) {
      flush();
      until_ns = INT64_MIN;
    }
    if (mark.start_ns < until_ns) continue;  // inside of another save
    until_ns = mark.end_ns;
    saves.push_back(&mark);
  }
  flush();
}

}  // namespace batchlight
