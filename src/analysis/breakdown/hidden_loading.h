// How long a step waited for data while its GPU had work: what data loading cost the CPU and not
// the GPU. The rest of the wait is the part kIdleDataLoading of gpu_breakdown.h.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/gpu/gpu_intervals.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

class HiddenLoading {
 public:
  // `steps`: those of the loop, whichever count.
  HiddenLoading(const StepInputs& inputs, const std::vector<DeviceWork>& devices,
                const StepSet& steps);

  // Mean over the steps that count, ns; 0 for a GPU that did nothing.
  double MeanNs(const GpuBreakdown& gpu, const ProcessSteps& steps) const;

 private:
  struct Device {
    ProcessId process;
    uint32_t device = 0;
    std::vector<int64_t> hidden_ns;  // by step
  };

  std::vector<Device> devices_;
};

}  // namespace batchlight
