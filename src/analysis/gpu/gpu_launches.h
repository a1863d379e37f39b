// The work of each GPU of each process, piece by piece, with the call that launched it. The windows
// of gpu_breakdown.h are made from it, and its idle time is explained with it.
//
// GpuLaunches looks at the tables where they are; lists of pieces are for those who go through one
// again and again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
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

// Of one device of one process.
class GpuLaunches {
 public:
  explicit GpuLaunches(const Store& store) : store_(&store) {}  // must outlive this

  // The first that starts at `time_ns` or later; of several at one moment the first in the order of
  // GpuTable.
  std::optional<GpuLaunch> FirstFrom(int64_t time_ns) const;
  // visit(launch) for each, a table after another, by start within each.
  template <typename Visitor>
  void Visit(Visitor&& visit) const {
    VisitTables([&](const auto& table, GpuTable which) {
      const Rows& rows = rows_[static_cast<size_t>(which)];
      const size_t count = all_rows_ ? table.size() : rows.size();
      for (size_t i = 0; i < count; ++i) {
        visit(Make(table, which, all_rows_ ? static_cast<uint32_t>(i) : rows[i]));
      }
    });
  }

 private:
  friend std::vector<GpuLaunches> FindGpuLaunches(const Store& store,
                                                  const std::vector<DeviceWork>& devices);
  using Rows = std::vector<uint32_t>;

  template <typename Visitor>
  void VisitTables(Visitor&& visit) const {
    visit(store_->kernels, GpuTable::kKernels);
    visit(store_->graph_launches, GpuTable::kGraphLaunches);
    visit(store_->memcpys, GpuTable::kMemcpys);
    visit(store_->memsets, GpuTable::kMemsets);
  }
  template <typename Table>
  GpuLaunch Make(const Table& table, GpuTable which, uint32_t row) const {
    return {table.start_ns[row],
            table.end_ns[row],
            table.api_call[row],
            row,
            which,
            table.stream[row] == main_stream_};
  }

  const Store* store_;
  uint32_t main_stream_ = 0;
  bool all_rows_ = false;     // of all tables: it is the only device
  std::array<Rows, 4> rows_;  // else these, by table and start
};

// One per entry of `devices`; every table is read once for all of them.
std::vector<GpuLaunches> FindGpuLaunches(const Store& store,
                                         const std::vector<DeviceWork>& devices);

// One list per entry of `devices`, not ordered.
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
