// Finds the step of a moment. Everything that needs to know in which step something happened asks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/steps/steps.h"

namespace batchlight {

// Whether a range is the one that the step was found by: it ends with it, and what a step has
// besides comes before.
inline bool IsRangeOfStep(const ProcessSteps& process, const Step& step, int64_t start_ns,
                          int64_t end_ns) {
  if (end_ns != step.end_ns || start_ns < step.start_ns) return false;
  return start_ns == step.start_ns || process.source == StepSource::kNvtxRange;
}

// Answers for one process; without a process, nothing lies in a step. It remembers the step or gap
// of the last answer, so that moments in order of time cost a comparison and any other moment a
// binary search. The static functions are that search alone.
class StepLookup {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  explicit StepLookup(const ProcessSteps* process = nullptr) : process_(process) {}

  // Row of the step around the moment; kNone between steps and outside of them.
  size_t RowAt(int64_t time_ns) {
    if (time_ns < from_ns_ || time_ns >= to_ns_) Seek(time_ns);
    return row_;
  }
  // Whether that step is one of the steady ones.
  bool IsSteadyAt(int64_t time_ns) {
    RowAt(time_ns);
    return steady_;
  }

  // Row of the step around the moment; kNone: none.
  static size_t Around(const std::vector<Step>& steps, int64_t time_ns);
  // Row of the step in which most of a stretch of time lies, else of that in which it begins.
  static size_t Mostly(const std::vector<Step>& steps, int64_t start_ns, int64_t end_ns);
  // Row of the step that began last, at the moment or before it; kNone: none had begun.
  static size_t LastBegun(const std::vector<Step>& steps, int64_t time_ns);
  // The same; `near`: an answer, or kNone, that may be close.
  static size_t LastBegun(const std::vector<Step>& steps, int64_t time_ns, size_t near);
  // Row of the first step that ends after the moment; steps.size(): all have ended.
  static size_t FirstUnfinished(const std::vector<Step>& steps, int64_t time_ns);

 private:
  void Seek(int64_t time_ns);

  const ProcessSteps* process_;
  int64_t from_ns_ = 0;  // the stretch for which row_ holds; empty at first
  int64_t to_ns_ = 0;
  size_t row_ = kNone;
  bool steady_ = false;
};

}  // namespace batchlight
