// How much memory a process holds on a GPU over time, from the allocations and releases that were
// recorded (--cuda-memory-usage). Memory that was allocated before the recording is not in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct MemoryPoint {
  int64_t time_ns = 0;
  uint64_t bytes = 0;  // held from this time on
};

struct MemoryCurve {
  ProcessId process;
  uint32_t device = 0;
  std::string kind;  // "device", "pinned", ...
  std::vector<MemoryPoint> points;
  uint64_t peak_bytes = 0;
  int64_t peak_ns = 0;
  uint64_t allocations = 0;
};

// One per process, device and kind of memory, by falling peak. Longer curves are thinned to about
// `most_points`: of every stretch of time its highest point and its last one stay.
std::vector<MemoryCurve> GpuMemoryCurves(const Store& store, size_t most_points = 2000);

}  // namespace batchlight
