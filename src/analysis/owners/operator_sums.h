// Sums of operators (operator_summary.h) for one choice of steps after another.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/owners/launch_steps.h"
#include "analysis/owners/operator_summary.h"
#include "analysis/steps/steps.h"
#include "store/flat_map.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

// What is known of operators whichever steps count. A view that looks at one choice of steps after
// another keeps it: each then costs what lies in its steady steps.
class OperatorSums {
 public:
  // `work`: of the GPU; empty without one. The store must outlive this.
  OperatorSums(const Store& store, const BackwardLinks& links, const Attribution& work);

  // `launched`: by these steps, whichever count.
  OperatorSummary Of(const StepSet& steps, const CriticalTime& critical,
                     const LaunchSteps& launched, const Attribution& work) const;

 private:
  struct Steady;
  class SteadyPass;

  const OperatorCallsTable& calls() const { return store_.operator_calls; }
  int64_t End(size_t call) const;
  uint32_t RowOf(size_t call) const;
  uint32_t AddRowOf(size_t call);
  void MarkCalls();
  void AddCalls(const Attribution& work);
  OperatorSummary Finish(std::vector<OperatorRow> rows) const;
  void SortBySelfTime(std::vector<OperatorRow>& rows) const;

  const Store& store_;
  ThreadSpans threads_;
  std::vector<bool> in_backward_;  // by call
  std::vector<bool> outermost_;    // by call: it lies in no other of its name
  std::vector<OperatorRow> rows_;  // by name and shapes, in order of first call
  FlatMap known_;                  // places in rows_
  bool has_shapes_ = false;
};

}  // namespace batchlight
