// Metrics of GPUs that were sampled over time, by what the GPU did meanwhile in steady steps: the
// phase whose work it ran, the cause of an idle gap, a kernel. A sample is the mean over an
// interval, and counts where all of that lies within one stretch of the kind: what is shorter than
// an interval has no samples, and no row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/owners/attribution.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

enum class MetricPartKind : uint8_t { kPhase, kIdle, kKernel };
std::string_view MetricPartKindName(MetricPartKind kind);  // "phase"

struct GpuMetricPart {
  uint32_t device = 0;  // as in gpu_metrics
  MetricPartKind kind = MetricPartKind::kPhase;
  std::string name;  // "backward", "data loading", of a kernel
  StringId metric;
  StringId unit;
  uint64_t samples = 0;
  double mean = 0;
};

// By GPU and kind, then by falling samples; a row for each metric.
std::vector<GpuMetricPart> SumGpuMetricParts(const StepInputs& inputs, const StepSet& steps,
                                             const Attribution& work);

// The ordinal that programs have for the GPU of a row of gpu_metrics.
uint32_t CudaDeviceOf(const Store& store, size_t metric);

}  // namespace batchlight
