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

class CriticalTime {
 public:
  CriticalTime() = default;  // without steps: every thread counts
  CriticalTime(const Store& store, const StepSet& steps, const PhaseMarks& marks);

  // The part of [start_ns, end_ns) in which the step waits for this thread.
  int64_t Inside(ThreadId thread, int64_t start_ns, int64_t end_ns) const {
    const Share* share = ShareOf(thread);
    if (share == nullptr) return end_ns - start_ns;
    const int64_t inside_ns = share->spans.empty() ? 0 : NsInside(share->spans, start_ns, end_ns);
    return share->runs_steps ? end_ns - start_ns - inside_ns : inside_ns;
  }
  // The same with the waiting for other threads: what lasts for so long on the thread that runs the
  // steps lasts for so long in the step.
  int64_t Lasting(ThreadId thread, int64_t start_ns, int64_t end_ns) const {
    return RunsSteps(thread) ? end_ns - start_ns : Inside(thread, start_ns, end_ns);
  }
  // The time in which the step does not wait for it, of a thread that does not run the steps.
  int64_t Beside(ThreadId thread, int64_t start_ns, int64_t end_ns) const {
    return RunsSteps(thread) ? 0 : end_ns - start_ns - Inside(thread, start_ns, end_ns);
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
  bool RunsSteps(ThreadId thread) const {
    const Share* share = ShareOf(thread);
    return share == nullptr || share->runs_steps;
  }
  void Divide(const Store& store, const PhaseMarks& marks, ThreadId main,
              const std::vector<ThreadId>& working);

  std::vector<Share> shares_;  // by row of the threads; empty: no steps
};

}  // namespace batchlight
