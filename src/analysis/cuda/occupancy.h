// Theoretical occupancy of a kernel from its launch configuration, and what limits it; waves and
// tail. Formulas: CUDA C++ Programming Guide, "Compute Capabilities" (limits per SM, allocation
// granularity of registers and shared memory for compute capability 7.0 and later).
#pragma once

#include <cstdint>
#include <string_view>

#include "store/tables.h"

namespace batchlight {

struct Occupancy {
  uint32_t blocks_per_sm = 0;  // 0: cannot run, or the GPU is not known
  uint32_t warps_per_sm = 0;
  double fraction = 0;       // of the SM's warps
  std::string_view limiter;  // "registers", "shared memory", "warps", "blocks"
  double waves = 0;          // grid / (SMs * blocks per SM)
  double tail_fraction = 0;  // part of the run time in which the last, partial wave leaves SMs idle
};

// A GPU whose limits are 0 (older recordings, imported files) gives an empty result.
Occupancy TheoreticalOccupancy(const KernelLaunchesRow& launch, const GpusRow& gpu);

}  // namespace batchlight
