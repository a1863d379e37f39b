// The work of each GPU of each process, piece by piece, with the call that launched it. The windows
// of gpu_breakdown.h are made from it, and its idle time is explained with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/gpu/gpu_intervals.h"
#include "store/store.h"

namespace batchlight {

enum class GpuTable : uint8_t { kKernels, kGraphLaunches, kMemcpys, kMemsets };

struct GpuLaunch {
  int64_t start_ns;
  int64_t end_ns;
  ApiCallId call;  // None: not recorded
  uint32_t row;    // of `table`
  GpuTable table;
  bool main_stream;
};

// One list per entry of `devices`, not ordered: every table is read once for all of them.
std::vector<std::vector<GpuLaunch>> CollectGpuLaunches(const Store& store,
                                                       const std::vector<DeviceWork>& devices);
void SortByStart(std::vector<GpuLaunch>& launches);
// The first that starts at `time_ns` or later. `launches` are ordered by start.
inline std::vector<GpuLaunch>::const_iterator FirstFrom(const std::vector<GpuLaunch>& launches,
                                                        int64_t time_ns) {
  return std::lower_bound(
      launches.begin(), launches.end(), time_ns,
      [](const GpuLaunch& launch, int64_t time) { return launch.start_ns < time; });
}

}  // namespace batchlight
