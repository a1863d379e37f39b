#include "analysis/gpu/gpu_launches.h"

#include <algorithm>
#include <utility>

namespace batchlight {
namespace {

std::pair<ProcessId, uint32_t> KeyOf(const DeviceWork& work) { return {work.process, work.device}; }

// use(place of its device, row) for each row; `devices` are ordered by process and device.
template <typename Table, typename Use>
void VisitRows(const Table& table, const std::vector<DeviceWork>& devices, Use&& use) {
  size_t at = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    const auto key = std::pair(table.process[i], table.device[i]);
    if (KeyOf(devices[at]) != key) {
      const auto found = std::ranges::lower_bound(devices, key, {}, KeyOf);
      at = static_cast<size_t>(found - devices.begin());
    }
    use(at, static_cast<uint32_t>(i));
  }
}

}  // namespace

std::vector<GpuLaunches> FindGpuLaunches(const Store& store,
                                         const std::vector<DeviceWork>& devices) {
  std::vector<GpuLaunches> launches(devices.size(), GpuLaunches(store));
  for (size_t i = 0; i < devices.size(); ++i) launches[i].main_stream_ = devices[i].main_stream;
  if (devices.size() == 1) {
    launches[0].all_rows_ = true;
  } else if (!devices.empty()) {
    launches[0].VisitTables([&](const auto& table, GpuTable which) {
      VisitRows(table, devices, [&](size_t device, uint32_t row) {
        launches[device].rows_[static_cast<size_t>(which)].push_back(row);
      });
    });
  }
  return launches;
}

std::optional<GpuLaunch> GpuLaunches::FirstFrom(int64_t time_ns) const {
  std::optional<GpuLaunch> first;
  VisitTables([&](const auto& table, GpuTable which) {
    const Rows& rows = rows_[static_cast<size_t>(which)];
    uint32_t row = 0;
    if (all_rows_) {
      const auto found = std::lower_bound(table.start_ns.begin(), table.start_ns.end(), time_ns);
      if (found == table.start_ns.end()) return;
      row = static_cast<uint32_t>(found - table.start_ns.begin());
    } else {
      const auto found = std::partition_point(rows.begin(), rows.end(), [&](uint32_t before) {
        return table.start_ns[before] < time_ns;
      });
      if (found == rows.end()) return;
      row = *found;
    }
    if (!first || table.start_ns[row] < first->start_ns) first = Make(table, which, row);
  });
  return first;
}

std::vector<std::vector<GpuLaunch>> CollectGpuLaunches(const Store& store,
                                                       const std::vector<DeviceWork>& devices) {
  std::vector<std::vector<GpuLaunch>> lists;
  for (const GpuLaunches& launches : FindGpuLaunches(store, devices)) {
    launches.Visit(
        [list = &lists.emplace_back()](const GpuLaunch& launch) { list->push_back(launch); });
  }
  return lists;
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
