#include "analysis/memory/gpu_memory.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

void Event(Store& store, int64_t time, uint64_t address, uint64_t bytes, bool release) {
  store.gpu_memory_events.Append(
      {.start_ns = time,
       .process = ProcessId{0},
       .address = address,
       .bytes = bytes,
       .memory_kind = MemoryKind::kArray,
       .operation = release ? MemoryOperation::kRelease : MemoryOperation::kAllocation});
}

TEST(GpuMemory, FollowsAllocationsAndReleases) {
  Store store;
  Event(store, 10, 0x1000, 500, false);
  Event(store, 20, 0x2000, 300, false);
  Event(store, 30, 0x1000, 0, true);   // a release need not say the size
  Event(store, 40, 0x9000, 77, true);  // allocated before the recording
  const std::vector<MemoryCurve> curves = GpuMemoryCurves(store, {});
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
  const MemoryCurve curve = GpuMemoryCurves(store, {}, 100)[0];
  EXPECT_LE(curve.points.size(), 110u);
  uint64_t highest = 0;
  for (const MemoryPoint& point : curve.points) highest = std::max(highest, point.bytes);
  EXPECT_EQ(highest, 1'000'000u);
  EXPECT_EQ(curve.points.back().bytes, 0u);
  EXPECT_EQ(curve.points.back().time_ns, 99'995);
}

TEST(GpuMemory, BinsOfStepsHaveTheirPeakAndAllocationsAlsoInAThinCurve) {
  Store store;
  store.processes.Append({.pid = 7});
  ProcessSteps process{.process = ProcessId{0}};
  for (int step = 0; step < 50; ++step) {
    const int64_t at = step * 10'000;
    process.steps.push_back({.start_ns = at, .end_ns = at + 9'000});
    process.steady.push_back(uint32_t(step));
    for (int i = 0; i < 20; ++i) {  // the peak of step N is N + 1 KiB; nothing is left of it
      const uint64_t bytes = i == 7 ? uint64_t(step + 1) << 10 : 10;
      Event(store, at + i * 400, 1, bytes, false);
      Event(store, at + i * 400 + 5, 1, 0, true);
    }
    Event(store, at + 9'500, 2, 100, false);  // between two steps
  }
  StepSet steps;
  steps.processes.push_back(process);
  const MemoryCurve curve = GpuMemoryCurves(store, steps, 20)[0];
  EXPECT_LE(curve.points.size(), 22u + 2 * 50);
  ASSERT_EQ(curve.bins.size(), 50u);
  for (size_t bin = 0; bin < 50; ++bin) {
    const MemoryBin& found = curve.bins[bin];
    EXPECT_EQ(found.from_ns, int64_t(bin) * 10'000);
    EXPECT_EQ(found.to_ns, int64_t(bin) * 10'000 + 9'000);
    EXPECT_EQ(found.allocations_until - found.allocations_before, 20u);
    EXPECT_EQ(found.allocations_before, bin * 21);
    uint64_t highest = 0;
    for (const MemoryPoint& point : curve.points) {
      if (point.time_ns < found.from_ns) highest = point.bytes;  // held when it begins
      if (point.time_ns >= found.from_ns && point.time_ns < found.to_ns) {
        highest = std::max(highest, point.bytes);
      }
    }
    EXPECT_EQ(highest, (bin + 1) * 1024 + (bin == 0 ? 0 : 100)) << "bin " << bin;
  }
}

TEST(GpuMemory, WhatAllocatedDecidesTheCategory) {
  testing::StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId engine = build.Thread(process);
  uint64_t address = 1;
  const auto allocate = [&](ThreadId thread, int64_t at, uint64_t bytes) {
    build.ApiCall(thread, "cudaMalloc", at, at + 5);
    const uint32_t correlation = build.store().api_calls.correlation.back();
    build.store().gpu_memory_events.Append({.start_ns = at + 1,
                                            .process = process,
                                            .correlation = correlation,
                                            .address = address++,
                                            .bytes = bytes,
                                            .memory_kind = MemoryKind::kDevice});
  };
  allocate(main, 100, 1000);
  for (int step = 0; step < 10; ++step) {
    const int64_t at = 1000 + step * 1000;
    build.Range(main, "step " + std::to_string(step), at, at + 900);
    build.Module(main, "Net", "Net", at + 100, at + 300);
    build.Operator(main, "aten::empty", at + 110, at + 200);
    build.Phase(main, Phase::kBackward, "backward", at + 300, at + 500);
    build.Phase(main, Phase::kOptimizerStep, "Adam.step", at + 500, at + 700);
    if (step > 0) continue;
    allocate(main, at + 120, 300);
    allocate(engine, at + 350, 70);
    allocate(main, at + 550, 5);
    allocate(main, at + 800, 2);
  }
  const Store store = build.Build();
  const MemoryCurve curve = GpuMemoryCurves(store, FindSteps(store))[0];
  const auto& held = curve.points.back().of_category;
  EXPECT_EQ(held[size_t(MemoryCategory::kModel)], 1000u);
  EXPECT_EQ(held[size_t(MemoryCategory::kActivations)], 300u);
  EXPECT_EQ(held[size_t(MemoryCategory::kGradients)], 70u);
  EXPECT_EQ(held[size_t(MemoryCategory::kOptimizerState)], 5u);
  EXPECT_EQ(held[size_t(MemoryCategory::kOther)], 2u);
  ASSERT_EQ(curve.at_peak.size(), 5u);
  EXPECT_EQ(curve.at_peak[1].place, "aten::empty in Net");
  EXPECT_EQ(curve.at_peak[1].bytes, 300u);
}

TEST(GpuMemory, NothingRecordedIsNoCurve) { EXPECT_TRUE(GpuMemoryCurves(Store{}, {}).empty()); }

}  // namespace
}  // namespace batchlight
