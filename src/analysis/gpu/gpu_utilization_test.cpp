#include "analysis/gpu/gpu_utilization.h"

#include <gtest/gtest.h>

#include "analysis/tables/gpu_metrics.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

// One step of 1000 ns on a GPU with 10 SMs of 1000 threads each. Two kernels: 100..300 on 5 blocks
// of 100 threads, and 200..400 on 20 blocks of 1000.
class GpuUtilizationTest : public ::testing::Test {
 protected:
  GpuUtilizationTest() {
    const ThreadId thread = build_.Thread(build_.Process(1, "train.py"));
    build_.Kernel(thread, "elementwise_kernel", 50, 100, 300);
    build_.Kernel(thread, "nvjet_hsh_128x128", 60, 200, 400);
    store_ = build_.Build();
    store_.gpus.Append({.sm_count = 10,
                        .max_threads_per_sm = 1000,
                        .max_blocks_per_sm = 32,
                        .max_registers_per_sm = 65536,
                        .max_shared_bytes_per_sm = 200'000,
                        .warp_threads = 32});
    store_.kernel_launches.Clear();
    store_.kernel_launches.Append(
        {.grid_x = 5, .grid_y = 1, .grid_z = 1, .block_x = 100, .block_y = 1, .block_z = 1});
    store_.kernel_launches.Append(
        {.grid_x = 20, .grid_y = 1, .grid_z = 1, .block_x = 500, .block_y = 1, .block_z = 1});
    for (size_t row = 0; row < 2; ++row) store_.kernels.launch[row] = KernelLaunchId::At(row);
    steps_.processes.push_back({.process = ProcessId{0}, .steps = {Step{}}, .steady = {0}});
    gpu_.process = ProcessId{0};
    gpu_.steps = {Window(100, 1100, 300)};
  }

  // A step's window in which the GPU works for so long.
  static GpuStepParts Window(int64_t start_ns, int64_t end_ns, int64_t busy_ns) {
    GpuStepParts step{.start_ns = start_ns, .end_ns = end_ns};
    step.part_ns[static_cast<size_t>(GpuPart::kCompute)] = busy_ns / 2;
    step.part_ns[static_cast<size_t>(GpuPart::kCopy)] = busy_ns - busy_ns / 2;
    step.part_ns[static_cast<size_t>(GpuPart::kIdlePython)] = end_ns - start_ns - busy_ns;
    return step;
  }

  testing::StoreBuilder build_;
  Store store_;
  StepSet steps_;
  GpuBreakdown gpu_;
};

// A metric in percent.
double ShareOf(const GpuUse& use, std::string_view key) {
  for (const ColumnOf<GpuUse>& metric : UtilizationMetrics(true)) {
    if (metric.column.key == key) return std::get<double>(metric.value(use));
  }
  return -1;
}

TEST_F(GpuUtilizationTest, FollowsTheFormulas) {
  const GpuUse use = MeasureUtilization(store_, steps_, {gpu_})[0].steady;
  EXPECT_EQ(use.time_ns, 1000);
  EXPECT_EQ(use.kernel_ns, 400);
  EXPECT_DOUBLE_EQ(ShareOf(use, "busy"), 30);  // copies too, as in the breakdown
  EXPECT_DOUBLE_EQ(ShareOf(use, "sm_efficiency"), (0.5 * 200 + 200) / 10);  // 5 of 10 SMs, then all
  EXPECT_DOUBLE_EQ(ShareOf(use, "tensor_core"), 50);
  // 500 of 10,000 threads; then one block of 16 of the SM's 31 warps.
  EXPECT_NEAR(ShareOf(use, "occupancy"), 100 * (0.05 + 16.0 / 31) / 2, 1e-9);
}

TEST_F(GpuUtilizationTest, AnUnknownGpuHasNoEstimates) {
  store_.gpus.Clear();
  const GpuUtilization found = MeasureUtilization(store_, steps_, {gpu_})[0];
  EXPECT_FALSE(found.knows_gpu);
  const GpuUse& use = found.steady;
  EXPECT_DOUBLE_EQ(ShareOf(use, "busy"), 30);
  EXPECT_EQ(ShareOf(use, "sm_efficiency"), 0);
}

TEST_F(GpuUtilizationTest, SmsAreAtMostBusyAllTheTime) {
  EXPECT_EQ(ShareOf({.time_ns = 1000, .sm_ns = 2000}, "sm_efficiency"), 100);
}

TEST_F(GpuUtilizationTest, AShareOfNothingHasNoValue) {
  const Cell cell = UtilizationMetrics(false).back().value({.time_ns = 1000});
  EXPECT_TRUE(std::holds_alternative<std::monostate>(cell));
}

TEST_F(GpuUtilizationTest, WorkOutsideOfTheStepsDoesNotCount) {
  gpu_.steps = {Window(350, 450, 50)};
  const GpuUse use = MeasureUtilization(store_, steps_, {gpu_})[0].steady;
  EXPECT_EQ(use.kernel_ns, 50);
  EXPECT_DOUBLE_EQ(ShareOf(use, "busy"), 50);
  EXPECT_DOUBLE_EQ(ShareOf(use, "tensor_core"), 100);
}

TEST_F(GpuUtilizationTest, StepsAddUpToTheRunAndKernelsAreCutAtTheirWindows) {
  gpu_.steps = {Window(100, 250, 150), {}, Window(250, 1100, 150)};
  steps_.processes[0].steps.resize(3);
  steps_.processes[0].steady = {0, 1, 2};
  const GpuUtilization found = MeasureUtilization(store_, steps_, {gpu_})[0];
  ASSERT_EQ(found.steps.size(), 3u);
  EXPECT_EQ(found.steps[0].busy_ns, 150);    // 100..250
  EXPECT_EQ(found.steps[0].kernel_ns, 200);  // and 200..250 of the second
  EXPECT_EQ(found.steps[0].tensor_ns, 50);
  EXPECT_EQ(found.steps[1].time_ns, 0);
  EXPECT_EQ(found.steps[2].busy_ns, 150);
  EXPECT_EQ(found.steady.time_ns, 1000);
  EXPECT_EQ(found.steady.busy_ns, 300);
  EXPECT_EQ(found.steady.kernel_ns, 400);
  steps_.processes[0].steady = {2};
  const GpuUse last = MeasureUtilization(store_, steps_, {gpu_})[0].steady;
  EXPECT_EQ(last.time_ns, 850);
  EXPECT_DOUBLE_EQ(ShareOf(last, "busy"), 100 * 150.0 / 850);
}

}  // namespace
}  // namespace batchlight
