#include <gtest/gtest.h>

#include <map>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;

constexpr std::string_view kTensor =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kIssue = "smsp__issue_active.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kElementwise =
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>()";

struct Kernel {
  std::string_view name;
  std::map<std::string_view, double> values;
  uint32_t stream = 7;
};

enum class Beside : uint8_t { kNothing, kOtherProcess, kOtherDevice, kOtherContext };

// Twenty steps of two kernels, of which one was measured kernel by kernel, on an H200. `grid`: of
// each kernel, of blocks of which an SM holds eight. `beside`: kernels between these, of the same
// number of stream.
std::vector<Finding> Advise(const std::vector<Kernel>& kernels, uint32_t grid = 0,
                            Beside beside = Beside::kNothing) {
  testing::StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId thread = build.Thread(process);
  const ThreadId other =
      beside == Beside::kOtherProcess ? build.Thread(build.Process(101, "train.py")) : thread;
  Store& store = build.store();
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t start = step * 100 * kMs;
    build.Range(thread, "step", start, start + 100 * kMs);
    for (size_t i = 0; i < kernels.size(); ++i) {
      const int64_t at = start + int64_t(i) * 50 * kMs;
      build.Kernel(thread, kernels[i].name, at + 1000, at + 2000, at + 50 * kMs, kernels[i].stream);
      if (beside == Beside::kNothing) continue;
      build.Kernel(other, "beside", at + 1500, at + 3000, at + 4000, kernels[i].stream);
    }
  }
  store.counter_ranges.Append({.start_ns = 10 * 100 * kMs,
                               .end_ns = 11 * 100 * kMs,
                               .process = process,
                               .range = 1,
                               .kernels = uint32_t(kernels.size())});
  for (size_t i = 0; i < kernels.size(); ++i) {
    const auto value = [&](std::string_view metric, double number) {
      store.counter_values.Append({.process = process,
                                   .range = 1,
                                   .launch = uint32_t(i + 1),
                                   .metric = build.Text(metric),
                                   .value = number});
    };
    value("gpu__time_duration.sum", 50.0 * double(kMs));
    for (const auto& [metric, number] : kernels[i].values) value(metric, number);
  }
  GpusRow gpu{.name = build.Text("NVIDIA H200"), .compute_major = 9, .sm_count = 132};
  gpu.max_threads_per_sm = 2048;
  gpu.max_blocks_per_sm = 32;
  gpu.max_registers_per_sm = 65'536;
  gpu.warp_threads = 32;
  store.gpus.Append(gpu);
  Store built = build.Build();
  for (size_t row = 0; row < built.kernels.size(); ++row) {
    const bool is_beside = built.Text(built.kernels.short_name[row]) == "beside";
    built.kernels.context[row] = is_beside && beside == Beside::kOtherContext;
    built.kernels.device[row] = is_beside && beside == Beside::kOtherDevice;
  }
  if (grid == 0) return BuildOverview(built).findings;
  built.kernel_launches.Append({.grid_x = grid,
                                .grid_y = 1,
                                .grid_z = 1,
                                .block_x = 256,
                                .block_y = 1,
                                .block_z = 1,
                                .registers_per_thread = 32});
  for (KernelLaunchId& launch : built.kernels.launch) launch = KernelLaunchId::At(0);
  return BuildOverview(built).findings;
}

// Moves 1 GB each way.
Kernel Elementwise(double compute = 20, uint32_t stream = 7) {
  return {kElementwise,
          {{kIssue, compute},
           {kDram, 90},
           {"dram__bytes_read.sum", 1e9},
           {"dram__bytes_write.sum", 1e9}},
          stream};
}

TEST(CounterRules, KernelsThatOnlyMoveData) {
  const auto found = Advise({Elementwise(), Elementwise()});
  const Finding* const finding = FindRule(found, "memory-bound-kernels");
  ASSERT_NE(finding, nullptr);
  ASSERT_EQ(finding->evidence.size(), 1u);
  EXPECT_EQ(finding->evidence[0].name, kElementwise);
  EXPECT_EQ(finding->evidence[0].count, 2u);
  EXPECT_NE(finding->seen.find("they move 4.00 GB, of which at most 1.00 GB are what one wrote"),
            std::string::npos)
      << finding->seen;
  // Of the 4 GB in 100 ms one is not read again and half of one not written.
  EXPECT_NEAR(finding->gain_ns, 1.5 / 4 * 100 * double(kMs), double(kMs));
  EXPECT_EQ(FindRule(found, "tensor-cores-idle"), nullptr);
  const auto held = Advise({Elementwise(80), Elementwise(80)});
  ASSERT_NE(FindRule(held, "memory-bound-kernels"), nullptr);
  EXPECT_NEAR(FindRule(held, "memory-bound-kernels")->gain_ns, 0.2 * 100 * double(kMs), double(kMs))
      << "computing takes the rest";
}

TEST(CounterRules, WhatMovesDataAndHasNothingToBeFusedWith) {
  const Kernel product = {"nvjet_tst_128x256", {{kTensor, 80}, {kDram, 20}}};
  EXPECT_EQ(FindRule(Advise({Elementwise(), product}), "memory-bound-kernels"), nullptr);
  EXPECT_EQ(FindRule(Advise({Elementwise(), Elementwise(20, 8)}), "memory-bound-kernels"), nullptr)
      << "on another stream";
  EXPECT_EQ(FindRule(Advise({Elementwise(95), Elementwise(95)}), "memory-bound-kernels"), nullptr)
      << "instructions are the limit";
}

TEST(CounterRules, NumbersOfStreamsAreOfAProcessDeviceAndContext) {
  for (const Beside beside : {Beside::kOtherProcess, Beside::kOtherDevice, Beside::kOtherContext}) {
    const auto found = Advise({Elementwise(), Elementwise()}, 0, beside);
    EXPECT_NE(FindRule(found, "memory-bound-kernels"), nullptr) << int(beside);
  }
}

TEST(CounterRules, LastWavesOfBlocks) {
  // 132 SMs hold 1,056 blocks of 256 threads: the second wave has 105 of them.
  const Kernel kernel = {"nvjet_tst_128x256", {{kTensor, 80}, {kDram, 20}}};
  const auto found = Advise({kernel, kernel}, 1161);
  const Finding* const finding = FindRule(found, "tail-waves");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("45 % of the kernels' time"), std::string::npos) << finding->title;
  EXPECT_GT(finding->gain_ns, 0);
  EXPECT_EQ(FindRule(Advise({kernel, kernel}, 2112), "tail-waves"), nullptr) << "two whole waves";
}

TEST(CounterRules, ProductsWithoutTensorCores) {
  const auto found = Advise({{"ampere_sgemm_128x64_nn", {{kTensor, 0}, {kIssue, 80}, {kDram, 20}}},
                             {kElementwise, {{kTensor, 0}, {kIssue, 20}, {kDram, 50}}}});
  const Finding* const finding = FindRule(found, "tensor-cores-idle");
  ASSERT_NE(finding, nullptr);
  ASSERT_EQ(finding->evidence.size(), 1u);
  EXPECT_EQ(finding->evidence[0].name, "ampere_sgemm_128x64_nn");
  // 67 TFLOP/s of FP32, 494.7 of TF32: its bytes take more than an eighth of the time.
  EXPECT_NEAR(finding->gain_ns, 0.8 * 50 * double(kMs), double(kMs));
}

TEST(CounterRules, NothingMeasuredNothingSaid) {
  const auto found = Advise({{"ampere_sgemm_128x64_nn", {}}});
  for (const char* rule : {"memory-bound-kernels", "tensor-cores-idle", "tail-waves"}) {
    EXPECT_EQ(FindRule(found, rule), nullptr) << rule;
  }
}

TEST(CounterRules, PowerAndHeat) {
  for (const auto& [metric, value, expected] :
       {std::tuple{"held back by power", 40.0, true}, std::tuple{"held back by heat", 20.0, true},
        std::tuple{"held back by heat", 2.0, false}, std::tuple{"power", 600.0, false}}) {
    testing::StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(100, "train.py"));
    for (int64_t step = 0; step < 20; ++step) {
      build.Range(thread, "step", step * kMs, (step + 1) * kMs);
    }
    Store& store = build.store();
    store.gpu_metrics.Append({.device = 0, .metric = build.Text(metric)});
    for (int64_t at = 0; at < 20; ++at) {
      store.gpu_metric_samples.Append(
          {.start_ns = at * kMs, .device = 0, .metric = build.Text(metric), .value = value});
    }
    const Store built = build.Build();
    const auto found = BuildOverview(built).findings;
    EXPECT_EQ(FindRule(found, "clock-held-back") != nullptr, expected) << metric << value;
  }
}

}  // namespace
}  // namespace batchlight
