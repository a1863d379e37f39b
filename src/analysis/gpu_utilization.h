// How well the kernels of a run fill a GPU, over the windows of the steps that count. These are
// estimates from launch configurations, not counters; the formulas are those of the overview that
// PyTorch's TensorBoard plugin had.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/gpu_breakdown.h"
#include "analysis/steps.h"
#include "store/store.h"

namespace batchlight {

struct GpuUtilization {
  ProcessId process;
  uint32_t device = 0;
  int64_t time_ns = 0;       // of the windows
  int64_t kernel_ns = 0;     // summed kernel time in them; kernels side by side count twice
  double busy = 0;           // time with at least one kernel / time
  double sm_efficiency = 0;  // sum(min(blocks / SMs, 1) x kernel time) / time, at most 1
  double occupancy = 0;  // mean of min(threads / SMs / threads an SM holds, theoretical occupancy),
                         // weighted by kernel time
  double tensor_core_share = 0;  // kernels on Tensor Cores, by name / kernel time
  bool knows_gpu = false;        // false: no SM count, so neither efficiency nor occupancy
};

// One per breakdown, in that order.
std::vector<GpuUtilization> MeasureUtilization(const Store& store, const StepSet& steps,
                                               const std::vector<GpuBreakdown>& breakdowns);

}  // namespace batchlight
