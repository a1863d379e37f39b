#include "analysis/phases/gradient_waits.h"

#include <algorithm>
#include <string_view>

#include "analysis/numbers/time_span.h"

namespace batchlight {
namespace {

// Shorter silences lie between any two operators.
constexpr int64_t kLeastWaitNs = 100'000;

class ThreadWaits {
 public:
  ThreadWaits(const Store& store, ThreadSpans::Rows operator_rows)
      : calls_(store.operator_calls), row_(operator_rows.begin), end_(operator_rows.end) {}

  // `collective`: the first that this backward starts.
  void Add(const PhaseMark& backward, const PhaseMark& collective, std::vector<PhaseMark>& found) {
    std::vector<TimeSpan> busy;
    while (row_ < end_ && calls_.start_ns[row_] < collective.start_ns) ++row_;
    for (; row_ < end_ && calls_.start_ns[row_] < backward.end_ns; ++row_) {
      AddSpan(busy, calls_.start_ns[row_], calls_.end_ns[row_]);
    }
    VisitGaps(busy, collective.end_ns, backward.end_ns, [&](int64_t from_ns, int64_t to_ns) {
      if (to_ns - from_ns < kLeastWaitNs) return;
      found.push_back({.start_ns = from_ns,
                       .end_ns = to_ns,
                       .thread = backward.thread,
                       .name = collective.name,
                       .kind = PhaseKind::kCommunication});
    });
  }

 private:
  const OperatorCallsTable& calls_;
  uint32_t row_;
  uint32_t end_;
};

bool Receives(std::string_view op) { return op == "c10d::recv_" || op == "c10d::recv_any_source_"; }

// From each receive of a thread, whose marks and operators these are, to whatever comes next on it.
void AddReceives(const Store& store, const std::vector<PhaseMark>& marks, ThreadSpans::Rows rows,
                 ThreadSpans::Rows operators, std::vector<PhaseMark>& found) {
  const OperatorCallsTable& calls = store.operator_calls;
  uint32_t mark = rows.begin;
  for (uint32_t row = operators.begin; row < operators.end; ++row) {
    if (!Receives(store.Text(calls.name[row]))) continue;
    const int64_t from_ns = calls.end_ns[row];
    uint32_t next = row + 1;
    while (next < operators.end && calls.start_ns[next] < from_ns) ++next;
    while (mark < rows.end && marks[mark].start_ns < from_ns) ++mark;
    if (next == operators.end) return;
    int64_t to_ns = calls.start_ns[next];
    if (mark < rows.end) to_ns = std::min(to_ns, marks[mark].start_ns);
    if (to_ns - from_ns < kLeastWaitNs) continue;
    found.push_back({.start_ns = from_ns,
                     .end_ns = to_ns,
                     .thread = calls.thread[row],
                     .name = calls.name[row],
                     .kind = PhaseKind::kCommunication});
  }
}

}  // namespace

std::vector<PhaseMark> FindGradientWaits(const Store& store, const std::vector<PhaseMark>& marks,
                                         const ThreadSpans& spans) {
  std::vector<PhaseMark> found;
  if (store.kernels.size() > 0) return found;  // a GPU's collectives are kernels
  const ThreadSpans operator_rows(store.operator_calls.thread);
  for (size_t thread = 0; thread < spans.thread_count(); ++thread) {
    const ThreadSpans::Rows rows = spans.Of(ThreadId::At(thread));
    AddReceives(store, marks, rows, operator_rows.Of(ThreadId::At(thread)), found);
    ThreadWaits waits(store, operator_rows.Of(ThreadId::At(thread)));
    const PhaseMark* backward = nullptr;
    bool added = true;
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const PhaseMark& mark = marks[row];
      if (mark.kind == PhaseKind::kBackward) {
        if (backward != nullptr && mark.start_ns < backward->end_ns) continue;
        backward = &mark;
        added = false;
      }
      if (mark.kind != PhaseKind::kCommunication || added || mark.end_ns > backward->end_ns)
        continue;
      waits.Add(*backward, mark, found);
      added = true;
    }
  }
  return found;
}

}  // namespace batchlight
