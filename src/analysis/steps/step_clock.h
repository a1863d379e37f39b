// Whether a moment of a thread lies in a step that counts, and over how many steps to average.
// Made for passes over a table in (thread, start) order: looks at the step it last returned first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// The steps of one process; nothing lies in those of none.
class SteadyTimes {
 public:
  explicit SteadyTimes(const ProcessSteps* process = nullptr) : process_(process) {}

  bool Has(int64_t time_ns) {
    if (process_ == nullptr) return false;
    if (time_ns < from_ || time_ns >= to_) Seek(time_ns);
    return steady_;
  }

 private:
  // Sets [from_, to_) to the step, or the gap between steps, around the moment.
  void Seek(int64_t time_ns) {
    const std::vector<Step>& all = process_->steps;
    const std::vector<uint32_t>& rows = process_->steady;
    const auto after =
        std::upper_bound(rows.begin(), rows.end(), time_ns,
                         [&](int64_t time, uint32_t row) { return time < all[row].start_ns; });
    to_ = after == rows.end() ? INT64_MAX : all[*after].start_ns;
    from_ = INT64_MIN;
    steady_ = false;
    if (after == rows.begin()) return;
    const Step& step = all[*(after - 1)];
    if (time_ns < step.end_ns) {
      from_ = step.start_ns;
      to_ = step.end_ns;
      steady_ = true;
    } else {
      from_ = step.end_ns;
    }
  }

  const ProcessSteps* process_;
  int64_t from_ = 0;
  int64_t to_ = 0;  // an empty stretch at first
  bool steady_ = false;
};

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
      times_ = SteadyTimes(steps_.Of(store_.ProcessOf(thread)));
    }
    return times_.Has(time_ns);
  }
  // Steps that count, over all training processes, and their time.
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
  SteadyTimes times_;
  size_t steady_count_ = 0;
  int64_t steady_total_ns_ = 0;
};

}  // namespace batchlight
