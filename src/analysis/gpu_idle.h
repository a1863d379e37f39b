// Why a GPU had nothing to do: looks at the thread that launched the work which ended the gap.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/gpu_breakdown.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

class GpuIdleExplainer {
 public:
  explicit GpuIdleExplainer(const Store& store);

  // Splits the gap [start_ns, end_ns) among the idle parts of `parts`; adds exactly its length.
  // `call`: the API call that launched the work at end_ns, None = not known.
  void Explain(int64_t start_ns, int64_t end_ns, ApiCallId call,
               std::array<int64_t, kGpuPartCount>& parts) const;

 private:
  GpuPart PartAt(ThreadId thread, int64_t time_ns, int64_t* until_ns) const;
  bool IsWait(uint32_t api_call) const;

  const Store& store_;
  IntervalIndex api_calls_;
  IntervalIndex operators_;
  IntervalIndex waits_for_data_;  // phases: DataLoader and compile only
  ThreadSpans api_spans_;
  ThreadSpans operator_spans_;
  ThreadSpans phase_spans_;
};

}  // namespace batchlight
