#include "analysis/gpu/gpu_activity.h"

namespace batchlight {

GpuActivity::GpuActivity(const StepInputs& inputs)
    : store(inputs.store),
      devices(CollectDeviceWork(store)),
      launches(FindGpuLaunches(store, devices)) {
  if (!devices.empty()) idle.emplace(inputs);
}

}  // namespace batchlight
