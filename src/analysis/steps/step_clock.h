// Whether a moment of a thread lies in a steady step, and over how many steps to average. Made for
// passes over a table in (thread, start) order.
#pragma once

#include <cstdint>

#include "analysis/steps/step_lookup.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// The steps of the process of each thread, and of all together.
class StepClock {
 public:
  StepClock(const Store& store, const StepSet& steps) : store_(store), steps_(steps) {
    for (const ProcessSteps& process : steps.processes) {
      steady_count_ += process.steady.size();
      steady_total_ns_ += process.duration.total;
    }
  }

  bool IsSteady(ThreadId thread, int64_t time_ns) {
    if (thread != thread_) {
      thread_ = thread;
      lookup_ = StepLookup(steps_.Of(store_.ProcessOf(thread)));
    }
    return lookup_.IsSteadyAt(time_ns);
  }
  // What counts of a piece of the GPU's work: all of it where a steady step launched it, in a
  // stretch of time what runs in it.
  int64_t NsOfWork(ThreadId launched_by, int64_t launched_ns, int64_t start_ns, int64_t end_ns) {
    if (!steps_.within) return IsSteady(launched_by, launched_ns) ? end_ns - start_ns : 0;
    const TimeSpan part = PartInside({start_ns, end_ns}, *steps_.within);
    return part.duration_ns() > 0 && IsSteady(launched_by, part.start_ns) ? part.duration_ns() : 0;
  }
  // Steady steps, over all training processes, and their time.
  double count() const { return double(steady_count_); }
  double mean_ns() const {
    return steady_count_ == 0 ? 0 : double(steady_total_ns_) / double(steady_count_);
  }
  // value / steps; 0 without steps
  double PerStep(double value) const { return steady_count_ == 0 ? 0 : value / count(); }
  double ShareOfStep(double per_step_ns) const {
    return steady_total_ns_ == 0 ? 0 : per_step_ns / mean_ns();
  }

 private:
  const Store& store_;
  const StepSet& steps_;
  ThreadId thread_;
  StepLookup lookup_;
  size_t steady_count_ = 0;
  int64_t steady_total_ns_ = 0;
};

}  // namespace batchlight
