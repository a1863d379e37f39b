#include "analysis/gpu_memory.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

void Event(Store& store, int64_t time, uint64_t address, uint64_t bytes, bool release) {
  store.gpu_memory_events.Append({.start_ns = time,
                                  .process = ProcessId{0},
                                  .address = address,
                                  .bytes = bytes,
                                  .memory_kind = 3,
                                  .operation = uint8_t(release)});
}

TEST(GpuMemory, FollowsAllocationsAndReleases) {
  Store store;
  Event(store, 10, 0x1000, 500, false);
  Event(store, 20, 0x2000, 300, false);
  Event(store, 30, 0x1000, 0, true);   // a release need not say the size
  Event(store, 40, 0x9000, 77, true);  // allocated before the recording
  const std::vector<MemoryCurve> curves = GpuMemoryCurves(store);
  ASSERT_EQ(curves.size(), 1u);
  ASSERT_EQ(curves[0].points.size(), 3u);
  EXPECT_EQ(curves[0].points[2].bytes, 300u);
  EXPECT_EQ(curves[0].peak_bytes, 800u);
  EXPECT_EQ(curves[0].peak_ns, 20);
  EXPECT_EQ(curves[0].allocations, 2u);
}

TEST(GpuMemory, ThinningKeepsPeakAndEnd) {
  Store store;
  for (int i = 0; i < 10'000; ++i) {
    Event(store, i * 10, 1, i == 7'777 ? 1'000'000 : 10, false);
    Event(store, i * 10 + 5, 1, 0, true);
  }
  const MemoryCurve curve = GpuMemoryCurves(store, 100)[0];
  EXPECT_LE(curve.points.size(), 110u);
  uint64_t highest = 0;
  for (const MemoryPoint& point : curve.points) highest = std::max(highest, point.bytes);
  EXPECT_EQ(highest, 1'000'000u);
  EXPECT_EQ(curve.points.back().bytes, 0u);
  EXPECT_EQ(curve.points.back().time_ns, 99'995);
}

TEST(GpuMemory, NothingRecordedIsNoCurve) { EXPECT_TRUE(GpuMemoryCurves(Store{}).empty()); }

}  // namespace
}  // namespace batchlight
