// Time of NVTX ranges by name, domain and style.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/numbers/statistics.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class CriticalTime;
struct Attribution;

struct NvtxRow {
  std::string domain;  // "" = default
  StringId message;
  NvtxStyle style = NvtxStyle::kPushPop;
  uint64_t calls = 0;
  int64_t total_ns = 0;  // a range inside one of the same row counts once
  int64_t self_ns = 0;   // without push/pop ranges of the same domain inside; start/end: the total
  Sample duration;       // of every range
  int64_t gpu_ns = 0;    // work on the GPU that was launched inside
  double total_per_step_ns = 0;   // over steady steps, as the step sees it; 0 without steps
  double beside_per_step_ns = 0;  // on other threads (critical_time.h)
  double share_of_step = 0;
};

struct NvtxSummary {
  std::vector<NvtxRow> rows;  // by falling total time
  uint64_t ranges = 0;
  uint64_t marks = 0;
};

// `work`: of the GPU; empty without one.
NvtxSummary SummarizeNvtx(const Store& store, const StepSet& steps, const CriticalTime& critical,
                          const Attribution& work);

}  // namespace batchlight
