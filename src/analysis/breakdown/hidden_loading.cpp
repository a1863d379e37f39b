#include "analysis/breakdown/hidden_loading.h"

#include "analysis/breakdown/phase_stretches.h"
#include "analysis/numbers/time_span.h"

namespace batchlight {
HiddenLoading::HiddenLoading(const StepInputs& inputs, const std::vector<DeviceWork>& devices,
                             const StepSet& steps) {
  for (const DeviceWork& work : devices) {
    const ProcessSteps* of_process = steps.Of(work.process);
    if (of_process == nullptr) continue;
    const std::vector<TimeSpan> busy = BusyOf(work);
    std::vector<int64_t> hidden_ns(of_process->steps.size(), 0);
    size_t at = 0;
    VisitPhaseStretches(inputs, *of_process, [&](const PhaseStretch& stretch) {
      if (stretch.kind != PhaseKind::kDataLoading) return;
      hidden_ns[stretch.step] += NsInside(busy, stretch.start_ns, stretch.end_ns, at);
    });
    devices_.push_back({work.process, work.device, std::move(hidden_ns)});
  }
}

double HiddenLoading::MeanNs(const GpuBreakdown& gpu, const ProcessSteps& steps) const {
  for (const Device& device : devices_) {
    if (device.process != gpu.process || device.device != gpu.device) continue;
    int64_t sum_ns = 0;
    for (const uint32_t step : steps.steady) sum_ns += device.hidden_ns[step];
    return steps.steady.empty() ? 0 : double(sum_ns) / double(steps.steady.size());
  }
  return 0;
}

}  // namespace batchlight
