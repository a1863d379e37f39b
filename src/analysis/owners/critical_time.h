// Which time of a call a training step consists of. At every moment one thread of a process is the
// one that the step waits for: the thread that runs the steps or, while that one only waits in
// backward(), the thread of autograd that works. What any other thread does at that moment (a
// DataLoader that pins memory, NCCL's watchdog, autograd's second thread) costs the step nothing.
// So the times of operators, modules and ranges that a step consists of never exceed its length,
// and backward() on one thread and its work on another count once.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct CriticalPart {
  int64_t waited_for_ns;  // in which the step waits for this thread
  int64_t beside_ns;      // in which it does not; 0 on the thread that runs the steps
  // The first with the waiting for other threads: what lasts for so long on the thread that runs
  // the steps lasts for so long in the step.
  int64_t lasting_ns;
};

class CriticalTime {
 public:
  CriticalTime() = default;  // without steps: every thread counts
  CriticalTime(const Store& store, const StepSet& steps, const PhaseMarks& marks);

  // From here on only what lies in this stretch of time counts.
  void KeepWithin(const TimeSpan& within) { within_ = within; }
  void KeepAll() { within_ = kAllTime; }

  // What [from_ns, to_ns) on the thread is to the step. `at` is the caller's, 0 at first: asking
  // in order of threads and starts makes the answer a matter of a few instructions.
  CriticalPart Of(ThreadId thread, int64_t from_ns, int64_t to_ns, size_t& at) const {
    const auto [start_ns, end_ns] = PartInside({from_ns, to_ns}, within_);
    const int64_t all_ns = end_ns - start_ns;
    const Share* share = ShareOf(thread);
    if (share == nullptr) return {all_ns, 0, all_ns};
    const int64_t inside_ns =
        share->spans.empty() ? 0 : NsInside(share->spans, start_ns, end_ns, at);
    if (share->runs_steps) return {all_ns - inside_ns, 0, all_ns};
    return {inside_ns, all_ns - inside_ns, inside_ns};
  }

 private:
  struct Share {
    bool runs_steps = false;
    // Ascending. Of the thread that runs the steps: when another is waited for; of others: when
    // they are.
    std::vector<TimeSpan> spans;
  };

  const Share* ShareOf(ThreadId thread) const {
    return thread.IsNone() || thread.row() >= shares_.size() ? nullptr : &shares_[thread.row()];
  }
  void Divide(const Store& store, const PhaseMarks& marks, ThreadId main,
              const std::vector<ThreadId>& working);

  TimeSpan within_ = kAllTime;
  std::vector<Share> shares_;  // by row of the threads; empty: no steps
};

}  // namespace batchlight
