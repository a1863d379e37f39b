#include "analysis/gpu_utilization.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/gpu_intervals.h"
#include "analysis/kernel_class.h"
#include "analysis/occupancy.h"

namespace batchlight {
namespace {

// The windows that count, disjoint and ordered.
std::vector<TimeSpan> CountedWindows(const StepSet& steps, const GpuBreakdown& gpu) {
  std::vector<TimeSpan> windows;
  const ProcessSteps* process = steps.Of(gpu.process);
  if (process == nullptr) return windows;
  for (const uint32_t step : process->steady) {
    const GpuStepParts& window = gpu.steps[step];
    if (window.duration_ns() > 0) windows.push_back({window.start_ns, window.end_ns});
  }
  return windows;
}

// What a launch configuration makes of a GPU.
struct Fill {
  double sm_share = 0;   // min(blocks / SMs, 1)
  double occupancy = 0;  // min(achievable, theoretical)
};

Fill FillOf(const KernelLaunchesRow& launch, const GpusRow& gpu) {
  const double blocks = double(launch.grid_x) * launch.grid_y * launch.grid_z;
  const double threads = blocks * launch.block_x * launch.block_y * launch.block_z;
  const double held = double(gpu.sm_count) * gpu.max_threads_per_sm;
  const double achievable = held > 0 ? threads / held : 0;
  return {std::min(1.0, blocks / gpu.sm_count),
          std::min(achievable, TheoreticalOccupancy(launch, gpu).fraction)};
}

class Meter {
 public:
  Meter(const Store& store, uint32_t device) : store_(store) {
    for (size_t row = 0; row < store.gpus.size(); ++row) {
      if (store.gpus.device[row] == device) gpu_ = store.gpus.Row(row);
    }
  }
  bool knows_gpu() const { return gpu_.sm_count > 0; }

  const Fill& FillOfLaunch(uint32_t launch) {
    const auto [at, is_new] = fills_.try_emplace(launch);
    if (is_new && knows_gpu() && launch < store_.kernel_launches.size()) {
      at->second = FillOf(store_.kernel_launches.Row(launch), gpu_);
    }
    return at->second;
  }
  bool OnTensorCores(StringId name) {
    const auto [at, is_new] = tensor_.try_emplace(name.row());
    if (is_new) {
      at->second = ClassifyKernel(store_.Text(name)).tensor_core == TensorCoreUse::kYes;
    }
    return at->second;
  }

 private:
  const Store& store_;
  GpusRow gpu_;
  std::unordered_map<uint32_t, Fill> fills_;
  std::unordered_map<size_t, bool> tensor_;
};

GpuUtilization Measure(const Store& store, const StepSet& steps, const GpuBreakdown& gpu) {
  const std::vector<TimeSpan> windows = CountedWindows(steps, gpu);
  GpuUtilization result{.process = gpu.process, .device = gpu.device, .time_ns = TotalNs(windows)};
  Meter meter(store, gpu.device);
  result.knows_gpu = meter.knows_gpu();
  if (result.time_ns == 0) return result;
  const KernelsTable& kernels = store.kernels;
  double sm_ns = 0;
  double occupancy_ns = 0;
  double tensor_ns = 0;
  int64_t busy_ns = 0;
  int64_t busy_until = 0;  // kernels are ordered by start
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (kernels.process[row] != gpu.process || kernels.device[row] != gpu.device) continue;
    const int64_t start = kernels.start_ns[row];
    const int64_t end = kernels.end_ns[row];
    const double inside = double(NsInside(windows, start, end));
    busy_ns += NsInside(windows, std::max(start, busy_until), std::max(end, busy_until));
    busy_until = std::max(busy_until, end);
    if (inside == 0) continue;
    const Fill& fill = meter.FillOfLaunch(kernels.launch[row]);
    result.kernel_ns += int64_t(inside);
    sm_ns += inside * fill.sm_share;
    occupancy_ns += inside * fill.occupancy;
    if (meter.OnTensorCores(kernels.demangled_name[row])) tensor_ns += inside;
  }
  result.busy = double(busy_ns) / double(result.time_ns);
  result.sm_efficiency = std::min(1.0, sm_ns / double(result.time_ns));
  if (result.kernel_ns > 0) {
    result.occupancy = occupancy_ns / double(result.kernel_ns);
    result.tensor_core_share = tensor_ns / double(result.kernel_ns);
  }
  return result;
}

}  // namespace

std::vector<GpuUtilization> MeasureUtilization(const Store& store, const StepSet& steps,
                                               const std::vector<GpuBreakdown>& breakdowns) {
  std::vector<GpuUtilization> results;
  for (const GpuBreakdown& gpu : breakdowns) results.push_back(Measure(store, steps, gpu));
  return results;
}

}  // namespace batchlight
