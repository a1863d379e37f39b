// Sums of NVTX ranges (nvtx_summary.h) for one choice of steps after another.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/owners/nvtx_summary.h"
#include "analysis/steps/steps.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

// What is known of ranges whichever steps count. A view that looks at one choice of steps after
// another keeps it: each then costs what lies in its steady steps.
class NvtxSums {
 public:
  // `work`: of the GPU; empty without one. The store must outlive this.
  NvtxSums(const Store& store, const Attribution& work);

  NvtxSummary Of(const StepSet& steps, const CriticalTime& critical) const;

 private:
  int64_t Duration(size_t range) const;
  void AddRanges();
  void AddGpuTime(const Attribution& work);
  void SetDurations();

  const Store& store_;
  ThreadSpans threads_;
  std::vector<NvtxRow> rows_;  // without what is per step
  std::vector<uint32_t> row_of_range_;
  std::vector<bool> outermost_;  // by range: it lies in no other of its row
};

}  // namespace batchlight
