// Metrics of GPUs that were sampled over time: their means, over all and within the steady steps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct GpuMetricSum {
  uint32_t device = 0;
  StringId metric;
  StringId unit;
  GpuMetricSource source = GpuMetricSource::kUnknown;
  uint64_t samples = 0;
  double mean = 0;
  double least = 0;
  double most = 0;
  uint64_t step_samples = 0;  // that begin in steady steps of the main process
  double step_mean = 0;       // of these
};

// In the order of gpu_metrics; metrics without samples are left out.
std::vector<GpuMetricSum> SumGpuMetrics(const Store& store, const StepSet& steps);

}  // namespace batchlight
