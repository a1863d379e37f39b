// When a GPU worked on what: the kernels, copies, sets and graphs of one device of one process as
// disjoint stretches of time per class of work.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "store/store.h"

namespace batchlight {

// In order of precedence: where work overlaps, the time belongs to the first that is active.
enum class GpuWork : uint8_t {
  kTensorCore,     // kernels on Tensor Cores, by name (analysis/cuda/kernel_class.h)
  kCompute,        // other kernels
  kGraph,          // CUDA graphs recorded as a whole: their kernels are not known
  kCommunication,  // NCCL and the like
  kCopy,
  kMemset,
};
inline constexpr size_t kGpuWorkCount = 6;

GpuWork WorkOfKernel(std::string_view name);  // of a kernel by its demangled name

struct DeviceWork {
  ProcessId process;
  uint32_t device = 0;
  // The stream that computed for the longest time. Others prefetch, communicate, run beside it.
  uint32_t main_stream = 0;
  // Disjoint, ordered, touching stretches merged. Work of a class on several streams counts once.
  std::array<std::vector<TimeSpan>, kGpuWorkCount> work;

  const std::vector<TimeSpan>& Of(GpuWork kind) const { return work[static_cast<size_t>(kind)]; }
};

// When it did anything.
std::vector<TimeSpan> BusyOf(const DeviceWork& device);

// One entry per process and device that did something, in order of process, then device.
std::vector<DeviceWork> CollectDeviceWork(const Store& store);

}  // namespace batchlight
