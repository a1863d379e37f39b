// How well the kernels of a run fill a GPU, over the windows of steady steps. These are estimates
// from launch configurations, not counters. The shares that are made from these sums are in
// analysis/tables/gpu_metrics.h.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// What the numbers are made of: of one step's window, or added up over steps.
struct GpuUse {
  int64_t time_ns = 0;      // of the windows
  int64_t busy_ns = 0;      // in which it works: the busy parts of the breakdown
  int64_t kernel_ns = 0;    // summed kernel time; kernels side by side count twice
  int64_t tensor_ns = 0;    // of that, kernels on Tensor Cores, by name
  double sm_ns = 0;         // sum of min(blocks / SMs, 1) x kernel time
  double occupancy_ns = 0;  // sum of min(threads / SMs / threads an SM holds, theoretical
                            // occupancy) x kernel time

  void Add(const GpuUse& other);
};

struct GpuUtilization {
  ProcessId process;
  uint32_t device = 0;
  bool knows_gpu = false;     // false: no SM count, so neither efficiency nor occupancy
  GpuUse steady;              // over steady steps
  std::vector<GpuUse> steps;  // one per step of the process
};

// One per breakdown, in that order.
std::vector<GpuUtilization> MeasureUtilization(const Store& store, const StepSet& steps,
                                               const std::vector<GpuBreakdown>& breakdowns);

}  // namespace batchlight
