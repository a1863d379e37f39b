#include "analysis/gpu/gpu_launches.h"

#include <algorithm>
#include <utility>

namespace batchlight {
namespace {

std::pair<ProcessId, uint32_t> KeyOf(const DeviceWork& work) { return {work.process, work.device}; }

// Adds each row to the list of its process and device; `devices` are ordered by those.
template <typename Table>
void Append(const Table& table, GpuTable which, const std::vector<DeviceWork>& devices,
            std::vector<std::vector<GpuLaunch>>& out) {
  size_t at = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    const auto key = std::pair(table.process[i], table.device[i]);
    if (KeyOf(devices[at]) != key) {
      const auto found = std::ranges::lower_bound(devices, key, {}, KeyOf);
      at = static_cast<size_t>(found - devices.begin());
    }
    out[at].push_back({table.start_ns[i], table.end_ns[i], table.api_call[i],
                       static_cast<uint32_t>(i), which,
                       table.stream[i] == devices[at].main_stream});
  }
}

}  // namespace

std::vector<std::vector<GpuLaunch>> CollectGpuLaunches(const Store& store,
                                                       const std::vector<DeviceWork>& devices) {
  std::vector<std::vector<GpuLaunch>> launches(devices.size());
  if (launches.size() == 1) {
    launches[0].reserve(store.kernels.size() + store.graph_launches.size() + store.memcpys.size() +
                        store.memsets.size());
  }
  Append(store.kernels, GpuTable::kKernels, devices, launches);
  Append(store.graph_launches, GpuTable::kGraphLaunches, devices, launches);
  Append(store.memcpys, GpuTable::kMemcpys, devices, launches);
  Append(store.memsets, GpuTable::kMemsets, devices, launches);
  return launches;
}

// Each table is by start: only their parts have to be merged.
void SortByStart(std::vector<GpuLaunch>& launches) {
  const auto before = [](const GpuLaunch& a, const GpuLaunch& b) {
    return a.start_ns < b.start_ns;
  };
  for (auto sorted = std::is_sorted_until(launches.begin(), launches.end(), before);
       sorted != launches.end();) {
    const auto next = std::is_sorted_until(sorted, launches.end(), before);
    std::inplace_merge(launches.begin(), sorted, next, before);
    sorted = next;
  }
}

}  // namespace batchlight
