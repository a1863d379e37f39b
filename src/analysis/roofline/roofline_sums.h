// What operators could reach (roofline.h) for one choice of steps after another.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/owners/attribution.h"
#include "analysis/roofline/roofline.h"
#include "analysis/steps/steps.h"
#include "store/flat_map.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

// What is known of operators' costs whichever steps count. A view that looks at one choice of steps
// after another keeps it: each then costs what lies in its steady steps.
class RooflineSums {
 public:
  // The store must outlive this.
  RooflineSums(const Store& store, const Attribution& work);

  // Empty rows where operators were recorded without shapes.
  Roofline Of(const StepSet& steps) const;

 private:
  using RowOfCall = std::vector<uint32_t>;

  uint32_t RowOf(size_t call) const;
  uint32_t AddRowOf(size_t call);
  RowOfCall CountCalls();
  void AddGpuTime(const Attribution& work, const RowOfCall& row_of_call);
  void AddCpuTime(const RowOfCall& row_of_call);
  std::vector<uint64_t> SteadyCalls(const StepSet& steps) const;

  const Store& store_;
  ThreadSpans threads_;
  std::vector<RooflineRow> rows_;  // without what is per step
  std::vector<bool> composite_;    // by row
  std::vector<bool> matrix_;       // by row
  std::vector<bool> counted_;      // by call: it is one of its row's
  FlatMap known_;                  // places in rows_, or that the cost is not known
  int64_t total_ns_ = 0;
};

}  // namespace batchlight
