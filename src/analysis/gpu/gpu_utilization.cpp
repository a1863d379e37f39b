#include "analysis/gpu/gpu_utilization.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/cuda/kernel_class.h"
#include "analysis/cuda/occupancy.h"

namespace batchlight {
namespace {

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

  const Fill& FillOfLaunch(KernelLaunchId launch) {
    const auto [at, is_new] = fills_.try_emplace(launch);
    if (is_new && knows_gpu() && launch.row() < store_.kernel_launches.size()) {
      at->second = FillOf(store_.kernel_launches.Row(launch.row()), gpu_);
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
  std::unordered_map<KernelLaunchId, Fill> fills_;
  std::unordered_map<size_t, bool> tensor_;
};

int64_t BusyNs(const GpuStepParts& step) {
  int64_t busy_ns = 0;
  for (size_t part = 0; part < kGpuPartCount; ++part) {
    if (!IsIdle(static_cast<GpuPart>(part))) busy_ns += step.part_ns[part];
  }
  return busy_ns;
}

// Adds the kernels of one GPU to the windows in which they ran.
class Measurement {
 public:
  Measurement(const Store& store, const GpuBreakdown& gpu)
      : store_(store), gpu_(gpu), meter_(store, gpu.device), uses_(gpu.steps.size()) {
    for (size_t step = 0; step < gpu.steps.size(); ++step) {
      uses_[step].time_ns = gpu.steps[step].duration_ns();
      uses_[step].busy_ns = BusyNs(gpu.steps[step]);
      if (uses_[step].time_ns > 0) windows_.push_back(step);
    }
  }
  bool knows_gpu() const { return meter_.knows_gpu(); }

  std::vector<GpuUse> Make() {
    const KernelsTable& kernels = store_.kernels;  // ordered by start, as the windows are
    for (size_t row = 0; row < kernels.size() && first_ < windows_.size(); ++row) {
      if (kernels.process[row] == gpu_.process && kernels.device[row] == gpu_.device) AddRow(row);
    }
    return std::move(uses_);
  }

 private:
  void AddRow(size_t row) {
    const int64_t start = store_.kernels.start_ns[row];
    const int64_t end = store_.kernels.end_ns[row];
    const auto window = [&](size_t i) -> const GpuStepParts& { return gpu_.steps[windows_[i]]; };
    while (first_ < windows_.size() && window(first_).end_ns <= start) ++first_;
    for (size_t i = first_; i < windows_.size() && window(i).start_ns < end; ++i) {
      const int64_t from = std::max(start, window(i).start_ns);
      const int64_t to = std::min(end, window(i).end_ns);
      if (to > from) AddPiece(row, to - from, uses_[windows_[i]]);
    }
  }

  void AddPiece(size_t row, int64_t inside, GpuUse& use) {
    const Fill& fill = meter_.FillOfLaunch(store_.kernels.launch[row]);
    use.kernel_ns += inside;
    use.sm_ns += double(inside) * fill.sm_share;
    use.occupancy_ns += double(inside) * fill.occupancy;
    if (meter_.OnTensorCores(store_.kernels.demangled_name[row])) use.tensor_ns += inside;
  }

  const Store& store_;
  const GpuBreakdown& gpu_;
  Meter meter_;
  std::vector<GpuUse> uses_;
  std::vector<size_t> windows_;  // steps whose windows are not empty; disjoint and ordered
  size_t first_ = 0;             // of windows_ that does not end before the kernel
};

GpuUtilization Measure(const Store& store, const StepSet& steps, const GpuBreakdown& gpu) {
  GpuUtilization result{.process = gpu.process, .device = gpu.device};
  Measurement measurement(store, gpu);
  result.knows_gpu = measurement.knows_gpu();
  result.steps = measurement.Make();
  const ProcessSteps* process = steps.Of(gpu.process);
  if (process == nullptr) return result;
  for (const uint32_t step : process->steady) result.steady.Add(result.steps[step]);
  return result;
}

}  // namespace

void GpuUse::Add(const GpuUse& other) {
  time_ns += other.time_ns;
  busy_ns += other.busy_ns;
  kernel_ns += other.kernel_ns;
  tensor_ns += other.tensor_ns;
  sm_ns += other.sm_ns;
  occupancy_ns += other.occupancy_ns;
}

std::vector<GpuUtilization> MeasureUtilization(const Store& store, const StepSet& steps,
                                               const std::vector<GpuBreakdown>& breakdowns) {
  std::vector<GpuUtilization> results;
  for (const GpuBreakdown& gpu : breakdowns) results.push_back(Measure(store, steps, gpu));
  return results;
}

}  // namespace batchlight
