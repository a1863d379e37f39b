// What the GPUs of a run did, and what explains when they did nothing: found once for all who ask.
#pragma once

#include <optional>
#include <vector>

#include "analysis/gpu/gpu_idle.h"
#include "analysis/gpu/gpu_intervals.h"
#include "analysis/gpu/gpu_launches.h"
#include "analysis/steps/step_inputs.h"

namespace batchlight {

struct GpuActivity {
  explicit GpuActivity(const StepInputs& inputs);  // must outlive this

  const Store& store;
  const std::vector<DeviceWork> devices;
  const std::vector<GpuLaunches> launches;  // by device
  std::optional<GpuIdleExplainer> idle;     // where there is a device
};

}  // namespace batchlight
