// How much memory a process holds on a GPU over time, from the allocations and releases that were
// recorded (--cuda-memory-usage). Memory that was allocated before the recording is not in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/memory_category.h"
#include "analysis/steps.h"
#include "store/store.h"

namespace batchlight {

struct MemoryPoint {
  int64_t time_ns = 0;
  uint64_t bytes = 0;                                        // held from this time on
  std::array<uint64_t, kMemoryCategoryCount> of_category{};  // the same, apart
};

// Blocks that were held at the peak and were allocated at one place.
struct PeakHolder {
  MemoryCategory category = MemoryCategory::kOther;
  std::string place;  // "aten::empty in encoder"; may be ""
  uint64_t blocks = 0;
  uint64_t bytes = 0;
};

struct MemoryCurve {
  ProcessId process;
  uint32_t device = 0;
  std::string kind;  // "device", "pinned", ...
  std::vector<MemoryPoint> points;
  uint64_t peak_bytes = 0;
  int64_t peak_ns = 0;
  uint64_t allocations = 0;
  std::vector<PeakHolder> at_peak;  // by falling bytes
};

// One per process, device and kind of memory, by falling peak. Longer curves are thinned to about
// `most_points`: of every stretch of time its highest point and its last one stay.
std::vector<MemoryCurve> GpuMemoryCurves(const Store& store, const StepSet& steps,
                                         size_t most_points = 2000);

}  // namespace batchlight
