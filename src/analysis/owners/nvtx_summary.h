// Time of NVTX ranges by name, domain and style.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/numbers/statistics.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct Attribution;

struct NvtxRow {
  std::string domain;  // "" = default
  StringId message;
  NvtxStyle style = NvtxStyle::kPushPop;
  uint64_t calls = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;  // without push/pop ranges of the same domain inside; start/end: the total
  Sample duration;
  int64_t gpu_ns = 0;            // work on the GPU that was launched inside
  double total_per_step_ns = 0;  // over steady steps; 0 without steps
  double share_of_step = 0;
};

struct NvtxSummary {
  std::vector<NvtxRow> rows;  // by falling total time
  uint64_t ranges = 0;
  uint64_t marks = 0;
};

// `work`: of the GPU; empty without one.
NvtxSummary SummarizeNvtx(const Store& store, const StepSet& steps, const Attribution& work);

}  // namespace batchlight
