#include "analysis/counters/step_counters.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

class StepCountersTest : public testing::Test {
 protected:
  void Range(uint32_t range, std::string_view set, uint32_t kernels = 0) {
    store_.counter_ranges.Append({.start_ns = range * 1000,
                                  .end_ns = range * 1000 + 900,
                                  .process = ProcessId::At(0),
                                  .range = range,
                                  .kernels = kernels,
                                  .counter_set = store_.strings.Intern(set),
                                  .switch_ns = 10});
  }
  void Value(uint32_t range, std::string_view metric, double value, uint32_t launch = 0) {
    store_.counter_values.Append({.process = ProcessId::At(0),
                                  .range = range,
                                  .launch = launch,
                                  .metric = store_.strings.Intern(metric),
                                  .value = value});
  }

  Store store_;
};

TEST_F(StepCountersTest, MeansOverSteps) {
  Range(1, "essentials");
  Range(2, "essentials");
  Range(3, "kernels", 5);
  Value(1, "sm__inst_executed.sum", 90);
  Value(2, "sm__inst_executed.sum", 110);
  Value(3, "sm__inst_executed.sum", 7, 1);
  Value(9, "sm__inst_executed.sum", 1);  // of a range that is not there
  const auto sums = SumStepCounters(store_);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].steps, 2u);
  EXPECT_EQ(sums[0].mean, 100);
  EXPECT_EQ(sums[0].least, 90);
  EXPECT_EQ(sums[0].most, 110);
  EXPECT_DOUBLE_EQ(sums[0].spread(), 0.2);
}

TEST_F(StepCountersTest, FiguresOfPassesOfDifferentLength) {
  Range(1, "roofline 1");
  Value(1, "gpu__time_duration.sum", 1e6);
  Value(1, "dram__bytes_read.sum", 3e9);
  Value(1, "dram__bytes_write.sum", 1e9);
  Value(1, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 25);
  Range(2, "roofline 2");
  Value(2, "gpu__time_duration.sum", 2e6);
  Value(2, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 8e11);
  Value(2, "sm__ops_path_tensor_src_fp8.sum", 0);
  const auto figures =
      FindStepFigures(store_, SumStepCounters(store_), {.half_tflops = 1000, .known = true});
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].steps, 2u);
  EXPECT_EQ(figures[0].switch_ns, 20);
  EXPECT_DOUBLE_EQ(*figures[0].dram_gbps, 4000);
  EXPECT_DOUBLE_EQ(*figures[0].tensor_share, 0.25);
  EXPECT_EQ(figures[0].dtype, "bf16");
  EXPECT_DOUBLE_EQ(*figures[0].tflops, 400) << "by the time of its own pass";
  EXPECT_DOUBLE_EQ(*figures[0].mfu, 0.4);
  EXPECT_FALSE(figures[0].occupancy.has_value());
  EXPECT_FALSE(figures[0].l2_hit_share.has_value());
}

TEST_F(StepCountersTest, HitsOccupancyAndIssueOfAStep) {
  Range(1, "essentials");
  Value(1, "gpu__time_duration.sum", 1e6);
  Value(1, "sm__warps_active.avg.pct_of_peak_sustained_active", 40);
  Value(1, "smsp__issue_active.avg.pct_of_peak_sustained_active", 12);
  Value(1, "l1tex__t_sector_hit_rate.pct", 55);
  Value(1, "lts__t_sectors_lookup_hit.sum", 300);
  Range(2, "memory 2");
  Value(2, "lts__t_sectors_lookup_miss.sum", 100);
  const StepFigures figures = FindStepFigures(store_, SumStepCounters(store_), {}).at(0);
  EXPECT_DOUBLE_EQ(figures.occupancy.value_or(-1), 0.4);
  EXPECT_DOUBLE_EQ(figures.issue_share.value_or(-1), 0.12);
  EXPECT_DOUBLE_EQ(figures.l1_hit_share.value_or(-1), 0.55);
  EXPECT_DOUBLE_EQ(figures.l2_hit_share.value_or(-1), 0.75) << "of both passes";
}

TEST_F(StepCountersTest, NoPeakNoMfu) {
  Range(1, "roofline");
  Value(1, "gpu__time_duration.sum", 1e6);
  Value(1, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 1e9);
  const auto figures = FindStepFigures(store_, SumStepCounters(store_), {});
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_TRUE(figures[0].tflops.has_value());
  EXPECT_FALSE(figures[0].mfu.has_value());
}

TEST_F(StepCountersTest, TheRooflineOfAStepIsByTheTimeOfItsOperations) {
  Range(1, "roofline 1");
  Value(1, "gpu__time_duration.sum", 1e6);
  Value(1, "dram__bytes_read.sum", 3e9);
  Value(1, "dram__bytes_write.sum", 1e9);
  Range(2, "roofline 2");
  Value(2, "gpu__time_duration.sum", 2e6);
  Value(2, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 8e11);
  const GpuPeaks peaks{.half_tflops = 1000, .bandwidth_gbps = 4000, .known = true};
  const KernelRoofline roofline =
      FindStepFigures(store_, SumStepCounters(store_), peaks).at(0).roofline;
  EXPECT_DOUBLE_EQ(roofline.per_s, 400e12) << "as the step's TFLOP/s";
  EXPECT_DOUBLE_EQ(*roofline.Level(MemoryRoof::kDram).intensity, 200);
  EXPECT_EQ(roofline.roof, "DRAM");
  EXPECT_DOUBLE_EQ(*roofline.share, 0.5);
}

TEST_F(StepCountersTest, WithoutOperationsAStepHasNoRoofline) {
  Range(1, "essentials");
  Value(1, "gpu__time_duration.sum", 1e6);
  Value(1, "dram__bytes_read.sum", 3e9);
  EXPECT_FALSE(FindStepFigures(store_, SumStepCounters(store_), {}).at(0).roofline.counted);
}

TEST_F(StepCountersTest, NothingWasRead) {
  EXPECT_TRUE(SumStepCounters(store_).empty());
  EXPECT_TRUE(FindStepFigures(store_, {}, {}).empty());
}

}  // namespace
}  // namespace batchlight
