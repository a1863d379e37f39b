#include "analysis/counters/kernel_roofline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

namespace batchlight {
namespace {

constexpr GpuPeaks kH200{.fp64_tflops = 67,
                         .fp32_tflops = 67,
                         .tf32_tflops = 494.7,
                         .half_tflops = 989.4,
                         .fp8_tflops = 1978.9,
                         .bandwidth_gbps = 4800,
                         .known = true};

using Counters = std::map<std::string, double, std::less<>>;

KernelRoofline Of(const Counters& counters, double time_ns, const GpuPeaks& peaks = kH200) {
  return RooflineOf(
      [&](std::string_view metric) {
        const auto found = counters.find(metric);
        return found == counters.end() ? std::nullopt : std::optional(found->second);
      },
      time_ns, peaks);
}

// A chip that does 1,000 tensor operations, 10 FMA instructions, and moves 2 bytes of DRAM, one
// sector of L2 and one line of L1 a cycle, at 1 GHz each; 100 us.
Counters Chip() {
  return {{"sm__cycles_elapsed.avg.per_second", 1e9},
          {"dram__cycles_elapsed.avg.per_second", 1e9},
          {"lts__cycles_elapsed.avg.per_second", 1e9},
          {"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained", 1000},
          {"sm__inst_executed_pipe_fma.sum.peak_sustained", 10},
          {"dram__bytes_read.sum.peak_sustained", 2},
          {"lts__lts2xbar_cycles_active.sum.peak_sustained", 1},
          {"l1tex__lsu_writeback_active_mem_lgds.sum.peak_sustained", 1},
          {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 0},
          {"sm__inst_executed_pipe_fma.sum", 0},
          {"dram__bytes_read.sum", 0},
          {"dram__bytes_write.sum", 0},
          {"lts__lts2xbar_cycles_active.sum", 0},
          {"l1tex__lsu_writeback_active_mem_lgds.sum", 0}};
}
constexpr double kTimeNs = 100'000;

TEST(KernelRoofline, AProductIsBelowThePeakOfItsType) {
  Counters counters = Chip();
  counters["sm__ops_path_tensor_src_bf16_dst_fp32.sum"] = 8e7;  // of 1e8 that could be
  counters["sm__inst_executed_pipe_fma.sum"] = 1000;            // of addresses
  counters["dram__bytes_read.sum"] = 60'000;
  counters["dram__bytes_write.sum"] = 20'000;
  counters["lts__lts2xbar_cycles_active.sum"] = 10'000;
  const KernelRoofline product = Of(counters, kTimeNs);
  EXPECT_EQ(product.type, "Tensor bf16");
  EXPECT_FALSE(product.at_most);
  EXPECT_DOUBLE_EQ(product.operations, 8e7) << "not those of other types";
  EXPECT_DOUBLE_EQ(product.per_s, 8e11);
  EXPECT_DOUBLE_EQ(*product.peak_per_s, 1e12);
  EXPECT_DOUBLE_EQ(*product.Level(MemoryRoof::kDram).intensity, 1000);
  EXPECT_DOUBLE_EQ(*product.Level(MemoryRoof::kL2).intensity, 250);
  EXPECT_FALSE(product.Level(MemoryRoof::kL1).intensity) << "no byte came from there";
  EXPECT_DOUBLE_EQ(*product.attainable_per_s, 1e12);
  EXPECT_DOUBLE_EQ(*product.share, 0.8);
  EXPECT_EQ(product.roof, "Tensor bf16");
}

TEST(KernelRoofline, TheLowestRoofBounds) {
  Counters counters = Chip();
  counters["sm__inst_executed_pipe_fma.sum"] = 1000;
  counters["dram__bytes_read.sum"] = 160'000;
  counters["lts__lts2xbar_cycles_active.sum"] = 10'000;
  const KernelRoofline addition = Of(counters, kTimeNs);
  EXPECT_EQ(addition.type, "fp32");
  EXPECT_TRUE(addition.at_most);
  EXPECT_DOUBLE_EQ(addition.operations, 64'000);
  EXPECT_DOUBLE_EQ(*addition.peak_per_s, 640e9);
  EXPECT_EQ(addition.roof, "DRAM");
  EXPECT_DOUBLE_EQ(*addition.attainable_per_s, 0.4 * 2e9);
  EXPECT_DOUBLE_EQ(*addition.share, 0.8) << "as much as its bytes are of the bandwidth";
  counters["l1tex__lsu_writeback_active_mem_lgds.sum"] = 90'000;
  EXPECT_EQ(Of(counters, kTimeNs).roof, "L1");
  EXPECT_DOUBLE_EQ(*Of(counters, kTimeNs).share, 0.9);
}

TEST(KernelRoofline, ACopyHasNoOperationsButABandwidth) {
  Counters counters = Chip();
  counters["dram__bytes_read.sum"] = 50'000;
  counters["dram__bytes_write.sum"] = 50'000;
  const KernelRoofline copy = Of(counters, kTimeNs);
  EXPECT_TRUE(copy.counted);
  EXPECT_EQ(copy.type, "");
  EXPECT_EQ(copy.roof, "DRAM");
  EXPECT_DOUBLE_EQ(*copy.share, 0.5);
  EXPECT_FALSE(copy.attainable_per_s);
  EXPECT_FALSE(copy.Level(MemoryRoof::kDram).intensity);
}

TEST(KernelRoofline, WhatTheChipDoesNotSayIsOfTheDataSheet) {
  const Counters counters = {
      {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 1e9},
      {"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained", NAN},
      {"sm__cycles_elapsed.avg.per_second", 1e9},
      {"dram__bytes_read.sum", 1e6},
      {"dram__bytes_write.sum", 0}};
  const KernelRoofline product = Of(counters, 1e5);
  EXPECT_DOUBLE_EQ(*product.peak_per_s, 989.4e12);
  EXPECT_DOUBLE_EQ(*product.Level(MemoryRoof::kDram).peak_per_s, 4800e9);
  const KernelRoofline unknown = Of(counters, 1e5, GpuPeaks());
  EXPECT_FALSE(unknown.share);
  EXPECT_EQ(unknown.roof, "");
}

// As an H200 says them: what its cores reach with every second number left out is no roof.
TEST(KernelRoofline, ThePeakIsThatOfDenseMatrices) {
  Counters counters = Chip();
  counters["sm__ops_path_tensor_src_bf16_dst_fp32.sum"] = 8e7;
  counters["sm__ops_path_tensor_src_bf16_dst_fp32.sum.peak_sustained"] = 2000;
  EXPECT_DOUBLE_EQ(*Of(counters, kTimeNs).peak_per_s, 1e12);
  counters.erase("sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained");
  EXPECT_DOUBLE_EQ(*Of(counters, kTimeNs).peak_per_s, 989.4e12) << "the data sheet's";
  counters["sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained"] = 500;
  EXPECT_DOUBLE_EQ(*Of(counters, kTimeNs).peak_per_s, 500e9) << "of an A100";
}

TEST(KernelRoofline, WithoutCountedOperationsThereIsNone) {
  EXPECT_FALSE(Of({{"dram__bytes_read.sum", 1}, {"dram__bytes_write.sum", 1}}, 100).counted);
  EXPECT_FALSE(Of(Chip(), 0).counted) << "no time";
}

}  // namespace
}  // namespace batchlight
