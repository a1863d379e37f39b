#include "analysis/counters/kernel_figures.h"

#include <gtest/gtest.h>

#include <map>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr std::string_view kTensor =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kIssue = "smsp__issue_active.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kL2 = "lts__t_sectors.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kL1 =
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";

struct Launch {
  std::string_view name;
  double time_ns = 0;
  std::map<std::string_view, double> values;
  uint32_t grid = 10'000;
  uint32_t registers = 32;
};

// Measured on a GPU of 132 SMs, in as many steps as passes, each a tenth longer.
KernelReport ReportOf(const std::vector<Launch>& launches, const KernelChoice& choice = {},
                      uint32_t passes = 1) {
  testing::StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId thread = build.Thread(process);
  Store& store = build.store();
  GpusRow gpu{.compute_major = 9, .sm_count = 132};
  gpu.max_threads_per_sm = 2048;
  gpu.max_blocks_per_sm = 32;
  gpu.max_registers_per_sm = 65'536;
  gpu.warp_threads = 32;
  store.gpus.Append(gpu);
  for (uint32_t pass = 0; pass < passes; ++pass) {
    const int64_t begin = int64_t{pass} * 100'000;
    store.counter_ranges.Append({.start_ns = begin,
                                 .end_ns = begin + 100'000,
                                 .process = process,
                                 .range = pass + 1,
                                 .kernels = uint32_t(launches.size())});
    for (size_t i = 0; i < launches.size(); ++i) {
      const Launch& launch = launches[i];
      const int64_t at = begin + int64_t(i) * 100 + 100;
      build.Kernel(thread, launch.name, at, at + 10, at + 20);
      const auto value = [&](std::string_view metric, double number) {
        store.counter_values.Append({.process = process,
                                     .range = pass + 1,
                                     .launch = uint32_t(i + 1),
                                     .metric = build.Text(metric),
                                     .value = number});
      };
      value("gpu__time_duration.sum", launch.time_ns * (1 + 0.1 * pass));
      for (const auto& [metric, number] : launch.values) value(metric, number);
    }
  }
  Store built = build.Build();
  for (uint32_t& context : built.kernels.context) context = 0;
  for (size_t i = 0; i < built.kernels.size(); ++i) {
    const Launch& launch = launches[i % launches.size()];
    if (i >= launches.size()) {
      built.kernels.launch[i] = built.kernels.launch[i % launches.size()];
      continue;
    }
    built.kernels.launch[i] = KernelLaunchId::At(built.kernel_launches.size());
    built.kernel_launches.Append({.grid_x = launch.grid,
                                  .grid_y = 1,
                                  .grid_z = 1,
                                  .block_x = 256,
                                  .block_y = 1,
                                  .block_z = 1,
                                  .registers_per_thread = launch.registers});
  }
  return ReportKernels(built, BackwardLinks(), Attribution(), choice);
}

KernelFigures Of(const Launch& launch) { return ReportOf({launch}).kernels.at(0); }

TEST(KernelFigures, WhatBoundsAKernel) {
  const auto bound = [](double tensor, double dram, uint32_t grid = 10'000) {
    return Of({"k", 100, {{kTensor, tensor}, {kIssue, 20}, {kDram, dram}, {kL2, 10}}, grid}).bound;
  };
  EXPECT_EQ(bound(85, 30), KernelBound::kCompute);
  EXPECT_EQ(bound(10, 90), KernelBound::kMemory);
  EXPECT_EQ(bound(70, 75), KernelBound::kBalanced);
  EXPECT_EQ(bound(30, 40), KernelBound::kLatency);
  EXPECT_EQ(bound(30, 40, 100), KernelBound::kSmallGrid);
  EXPECT_EQ(bound(85, 40, 100), KernelBound::kCompute) << "few blocks, but busy ones";
  EXPECT_EQ(Of({"k", 100, {{kTensor, 90}}}).bound, KernelBound::kUnknown) << "no word of memory";
  EXPECT_EQ(Of({"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 100, {{kIssue, 9}, {kDram, 9}}}).bound,
            KernelBound::kCommunication);
}

TEST(KernelFigures, TheLevelThatIsBusiest) {
  const KernelFigures kernel = Of({"k", 100, {{kIssue, 20}, {kDram, 30}, {kL2, 50}, {kL1, 80}}});
  EXPECT_EQ(kernel.memory_limit, GpuLimit::kL1);
  EXPECT_DOUBLE_EQ(*kernel.memory, 0.8);
  EXPECT_EQ(kernel.compute_limit, GpuLimit::kIssue);
}

TEST(KernelFigures, WhatFollowsFromCounts) {
  const KernelFigures kernel = Of({"k",
                                   1000,
                                   {{"dram__bytes_read.sum", 2e6},
                                    {"dram__bytes_write.sum", 1e6},
                                    {"lts__t_sectors_lookup_hit.sum", 30},
                                    {"lts__t_sectors_lookup_miss.sum", 10},
                                    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 32},
                                    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 2},
                                    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 7e9},
                                    {"sm__ops_path_tensor_src_fp8.sum", 1e9}}});
  EXPECT_DOUBLE_EQ(*kernel.dram_gbps, 3000);
  EXPECT_DOUBLE_EQ(*kernel.l2_hit, 0.75);
  EXPECT_DOUBLE_EQ(*kernel.sectors_per_load, 16);
  EXPECT_DOUBLE_EQ(*kernel.tensor_operations, 8e9);
  EXPECT_FALSE(kernel.bank_conflicts);
  EXPECT_DOUBLE_EQ(kernel.theoretical.fraction, 1);
}

TEST(KernelFigures, SpreadIsOfTheTimesOfThePasses) {
  const KernelReport report = ReportOf({{"a", 1000, {}}, {"b", 100, {}}}, {}, 3);
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_DOUBLE_EQ(report.kernels[0].time_ns, 1100);
  EXPECT_DOUBLE_EQ(report.kernels[0].spread, 200.0 / 1100);
  EXPECT_EQ(report.steps, 3u);
}

TEST(KernelFigures, LaunchesOfOneKindAreOneKernelUnlessAskedFor) {
  const std::vector<Launch> launches = {{"a", 100, {{kDram, 10}, {"dram__bytes_read.sum", 10}}},
                                        {"b", 150, {}},
                                        {"a", 300, {{kDram, 50}, {"dram__bytes_read.sum", 30}}}};
  KernelReport each = ReportOf(launches, {.each_launch = true});
  ASSERT_EQ(each.kernels.size(), 3u);
  EXPECT_DOUBLE_EQ(each.kernels[1].time_ns, 150) << "in the order in which they ran";
  KernelReport some = ReportOf(
      launches, {.wanted = [](std::string_view n) { return n == "a"; }, .each_launch = true});
  ASSERT_EQ(some.kernels.size(), 2u);
  EXPECT_DOUBLE_EQ(some.kernels[0].share, 100.0 / 550) << "of all that was measured";
}

TEST(KernelFigures, AdviceNamesTheCause) {
  const auto advice = [](const Launch& launch) { return AdviceFor(Of(launch)); };
  EXPECT_NE(advice({"k", 100, {{kIssue, 10}, {kDram, 90}}}).find("fuse it"), std::string::npos);
  EXPECT_NE(advice({"nvjet_tst_128x256", 100, {{kTensor, 90}, {kDram, 30}}}).find("near what"),
            std::string::npos);
  EXPECT_NE(advice({"ampere_sgemm_128x64_nn", 100, {{kTensor, 0}, {kIssue, 80}, {kDram, 20}}})
                .find("Tensor Cores are idle"),
            std::string::npos);
  EXPECT_NE(advice({"k",
                    100,
                    {{kIssue, 10},
                     {kDram, 20},
                     {kL2, 90},
                     {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 32},
                     {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1}}})
                .find("32.0 sectors a request"),
            std::string::npos);
  EXPECT_NE(
      advice({"k",
              100,
              {{kIssue, 10},
               {kDram, 20},
               {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 9}}})
          .find("Wait: memory"),
      std::string::npos);
  EXPECT_NE(advice({"k", 100, {{kIssue, 1}, {kDram, 2}}, 66}).find("fill 6 % of the GPU"),
            std::string::npos);
  EXPECT_NE(advice({"k", 100, {{kIssue, 10}, {kDram, 20}}, 10'000, 255})
                .find("registers allow only 13 % of the warps that could hide latency"),
            std::string::npos);
  EXPECT_NE(
      advice(
          {"k",
           100,
           {{kIssue, 10}, {kDram, 20}, {"sm__warps_active.avg.pct_of_peak_sustained_active", 40}}})
          .find("occupancy is 40 % of possible 100 %"),
      std::string::npos);
  // The second of two waves of 1,056 blocks has a tenth of them.
  EXPECT_NE(advice({"nvjet_tst_128x256", 100, {{kTensor, 90}, {kDram, 30}}, 1161})
                .find("; its last wave of blocks leaves the GPU idle for 45 %"),
            std::string::npos);
}

TEST(KernelFigures, BankConflictsAndTheirLine) {
  const Launch launch = {"k",
                         100,
                         {{kIssue, 10},
                          {kDram, 20},
                          {kL1, 90},
                          {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 30},
                          {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 100}}};
  KernelFigures kernel = Of(launch);
  EXPECT_DOUBLE_EQ(kernel.bank_conflicts.value_or(-1), 0.3);
  EXPECT_EQ(AdviceFor(kernel),
            "30 % of its accesses to shared memory wait for a bank: pad or swizzle the tile");
  kernel.memory_line = "tile.py:9 `row = tile[i]`";
  EXPECT_EQ(AdviceFor(kernel),
            "30 % of its accesses to shared memory wait for a bank (most wait at tile.py:9 `row = "
            "tile[i]`): pad or swizzle the tile");
}

TEST(KernelFigures, TheLineThatWaitsForMemoryIsThatOfItsOwnKernel) {
  Store store;
  KernelReport report;
  report.kernels.push_back({.name = store.strings.Intern("gather")});
  report.kernels.push_back({.name = store.strings.Intern("other")});
  const auto line = [](std::string kernel, uint32_t number, std::string_view reason,
                       uint64_t samples) {
    StallRow row;
    row.kernel = std::move(kernel);
    row.file = "/home/u/gather.py";
    row.line = number;
    row.source = "x";
    for (size_t i = 0; i < kStallReasons; ++i) {
      if (kStallReasonList[i].name == reason) row.by_reason[i] = samples;
    }
    return row;
  };
  StallProfile profile;
  profile.lines = {line("gather", 3, "barrier", 900), line("gather", 7, "long_scoreboard", 50),
                   line("gather", 8, "lg_throttle", 60), line("third", 9, "lg_throttle", 70)};
  NameMemoryLines(profile, store, &report);
  EXPECT_EQ(report.kernels[0].memory_line, "gather.py:8 `x`");
  EXPECT_EQ(report.kernels[1].memory_line, "");
}

TEST(KernelFigures, TheLineOfPythonThatLaunchedIt) {
  testing::StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId thread = build.Thread(process);
  build.Module(thread, "net.0", "Linear", 90, 160);
  build.Operator(thread, "aten::add", 100, 150);
  build.Kernel(thread, "add", 110, 200, 300);
  Store& store = build.store();
  store.counter_ranges.Append(
      {.start_ns = 0, .end_ns = 1000, .process = process, .range = 1, .kernels = 1});
  store.counter_values.Append({.process = process,
                               .range = 1,
                               .launch = 1,
                               .metric = build.Text("gpu__time_duration.sum"),
                               .value = 100});
  store.python_frames.Append({.file = build.Text("/home/u/model.py"), .line = 42});
  store.python_stacks.Append({.frame = PythonFrameId::At(0)});
  Store built = build.Build();
  for (uint32_t& context : built.kernels.context) context = 0;
  built.operator_calls.python_stack[0] = PythonStackId::At(0);
  const BackwardLinks links(built);
  const KernelReport report = ReportKernels(built, links, AttributeWork(built, links));
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(LaunchLineText(built, report.kernels[0]), "model.py:42");
  ASSERT_FALSE(report.kernels[0].owner.module.IsNone());
  EXPECT_EQ(built.Text(built.module_calls.path[report.kernels[0].owner.module.row()]), "net.0");
}

// What a roofline is found by: operations and bytes of 100 us, and peaks a cycle at 1 GHz.
Launch Counted(double tensor, double fma, double dram, std::string_view name = "k",
               uint32_t grid = 10'000) {
  return {name,
          100'000,
          {{"sm__cycles_elapsed.avg.per_second", 1e9},
           {"dram__cycles_elapsed.avg.per_second", 1e9},
           {"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained", 1000},
           {"sm__inst_executed_pipe_fma.sum.peak_sustained", 10},
           {"dram__bytes_read.sum.peak_sustained", 2},
           {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", tensor},
           {"sm__inst_executed_pipe_fma.sum", fma},
           {"dram__bytes_read.sum", dram},
           {"dram__bytes_write.sum", 0},
           {kTensor, tensor > 0 ? 50.0 : 0.0}},
          grid};
}

TEST(KernelFigures, ARooflineSaysWhatToDo) {
  const auto advice = [](const Launch& launch) { return RooflineAdvice(Of(launch)); };
  EXPECT_EQ(
      advice(Counted(9e7, 10, 5'000)),
      "near what Tensor Cores can do: only fewer operations or a smaller type make it faster");
  EXPECT_EQ(advice(Counted(3e7, 10, 5'000)),
            "memory would allow all that Tensor bf16 can, and it does 30 % of that: neither "
            "computing nor memory is busy: it waits; more work per launch (larger batch, fused "
            "operators) hides it");
  EXPECT_EQ(
      advice(Counted(0, 1000, 180'000)),
      "does 0.36 operations for a byte of DRAM and would need 320 to come to the peak of fp32; "
      "moves 90 % of the bytes that DRAM can: fuse it with the kernels before and after it, "
      "which saves their bytes, or use a smaller type");
  EXPECT_EQ(advice(Counted(0, 0, 180'000)),
            "moves 90 % of the bytes that DRAM can: fuse it with the kernels before and after it, "
            "which saves their bytes, or use a smaller type");
  EXPECT_EQ(
      advice(Counted(0, 0, 20'000, "k", 66)),
      "moves 10 % of the bytes that DRAM can: its blocks fill 6 % of the GPU: a larger batch, "
      "or several such operators as one (foreach, grouped, fused)");
  EXPECT_NE(advice(Counted(0, 900'000, 10, "ampere_sgemm_128x64_nn")).find("Tensor Cores are idle"),
            std::string::npos);
  EXPECT_NE(advice(Counted(0, 900'000, 10)).find("as many operations as fp32 can: more data"),
            std::string::npos);
  EXPECT_EQ(advice(Counted(0, 10, 10, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL")), "")
      << "it waits for other GPUs";
  EXPECT_EQ(advice({"k", 100, {{kDram, 90}}}), "") << "operations were not counted";
}

TEST(KernelFigures, NumbersAreOfTheReport) {
  const KernelReport report = ReportOf({{"a", 100, {}}, {"b", 300, {}}, {"a", 50, {}}});
  ASSERT_EQ(report.kernels.size(), 3u) << "of launches of their own";
  for (size_t i = 0; i < report.kernels.size(); ++i) EXPECT_EQ(report.kernels[i].number, i + 1);
  EXPECT_DOUBLE_EQ(report.kernels[0].time_ns, 300);
}

}  // namespace
}  // namespace batchlight
