#include "analysis/phases/gradient_waits.h"

#include <algorithm>

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

}  // namespace

std::vector<PhaseMark> FindGradientWaits(const Store& store, const std::vector<PhaseMark>& marks,
                                         const ThreadSpans& spans) {
  std::vector<PhaseMark> found;
  if (store.kernels.size() > 0) return found;  // a GPU's collectives are kernels
  const ThreadSpans operator_rows(store.operator_calls.thread);
  for (size_t thread = 0; thread < spans.thread_count(); ++thread) {
    const ThreadSpans::Rows rows = spans.Of(ThreadId::At(thread));
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
