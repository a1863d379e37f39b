#include "analysis/gpu/gpu_launches.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/gpu/gpu_intervals.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

// Work of all kinds on `devices` devices of two processes, several pieces at one moment.
Store MakeWork(uint32_t devices) {
  testing::StoreBuilder build;
  std::mt19937 random(3);
  for (uint32_t pid = 1; pid <= 2; ++pid) build.Thread(build.Process(pid, "train.py"));
  Store& store = build.store();
  const StringId name = build.Text("gemm");
  for (int i = 0; i < 400; ++i) {
    const auto start_ns = static_cast<int64_t>(random() % 300);
    const ProcessId process = ProcessId::At(devices == 1 ? 0 : random() % 2);
    const auto device = static_cast<uint32_t>(random() % devices);
    const auto stream = static_cast<uint32_t>(7 + random() % 2);
    const auto add = [&](auto& table, auto row) {
      row.start_ns = start_ns;
      row.end_ns = start_ns + 5;
      row.process = process;
      row.device = device;
      row.stream = stream;
      table.Append(row);
    };
    switch (random() % 4) {
      case 0:
        add(store.kernels, KernelsTable::RowType{.demangled_name = name, .short_name = name});
        break;
      case 1:
        add(store.graph_launches, GraphLaunchesTable::RowType{});
        break;
      case 2:
        add(store.memcpys, MemcpysTable::RowType{});
        break;
      default:
        add(store.memsets, MemsetsTable::RowType{});
    }
  }
  return build.Build();
}

TEST(GpuLaunches, FindsTheFirstAsASearchThroughAListDoes) {
  for (const uint32_t count : {1u, 3u}) {
    const Store store = MakeWork(count);
    const std::vector<DeviceWork> devices = CollectDeviceWork(store);
    ASSERT_EQ(devices.size(), count == 1 ? 1u : 6u);
    const std::vector<GpuLaunches> launches = FindGpuLaunches(store, devices);
    std::vector<std::vector<GpuLaunch>> lists = CollectGpuLaunches(store, devices);
    size_t listed = 0;
    for (size_t i = 0; i < devices.size(); ++i) {
      SortByStart(lists[i]);
      listed += lists[i].size();
      for (int64_t time_ns = -1; time_ns < 310; ++time_ns) {
        const auto expected = FirstFrom(lists[i], time_ns);
        const std::optional<GpuLaunch> found = launches[i].FirstFrom(time_ns);
        ASSERT_EQ(found.has_value(), expected != lists[i].end());
        if (!found) continue;
        EXPECT_EQ(found->table, expected->table);
        EXPECT_EQ(found->row, expected->row);
        EXPECT_EQ(found->main_stream, expected->main_stream);
      }
    }
    EXPECT_EQ(listed, 400u) << "each piece belongs to one device";
  }
}

}  // namespace
}  // namespace batchlight
