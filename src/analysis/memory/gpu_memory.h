// How much memory a process holds on a GPU over time, from the allocations and releases that were
// recorded (--cuda-memory-usage). Memory allocated before the recording is not included.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/memory/memory_category.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct MemoryPoint {
  int64_t time_ns = 0;
  uint64_t bytes = 0;                                        // held from this time on
  std::array<uint64_t, kMemoryCategoryCount> of_category{};  // the same, apart
  uint64_t allocations = 0;                                  // made until then
};

// The blocks held at the peak that were allocated at one place.
struct PeakHolder {
  MemoryCategory category = MemoryCategory::kOther;
  std::string place;  // "aten::empty in encoder"; may be ""
  uint64_t blocks = 0;
  uint64_t bytes = 0;
};

// Steps of one bin of the tree, on the CPU. Between two bins time may pass.
struct MemoryBin {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  uint64_t allocations_before = 0;  // made before from_ns
  uint64_t allocations_until = 0;   // made before to_ns
};

struct MemoryCurve {
  ProcessId process;
  uint32_t device = 0;
  MemoryKind kind = MemoryKind::kUnknown;
  std::vector<MemoryPoint> points;
  bool thinned = false;  // `points` are fewer than there were changes
  uint64_t peak_bytes = 0;
  int64_t peak_ns = 0;
  uint64_t allocations = 0;
  std::vector<PeakHolder> at_peak;  // by falling bytes
  // One per bin; empty if the process has no steps in it. Thinning keeps the highest point of every
  // bin and the amount held when it begins, so that the points give the peak of any of them.
  std::vector<MemoryBin> bins;
};

// One per process, device and kind of memory, by falling peak. Longer curves are thinned to about
// `most_points`, keeping the highest and the last point of every stretch of time.
std::vector<MemoryCurve> GpuMemoryCurves(const Store& store, const StepSet& steps,
                                         size_t most_points = 2000);

}  // namespace batchlight
