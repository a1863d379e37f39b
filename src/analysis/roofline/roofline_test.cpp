#include "analysis/roofline/roofline.h"

#include <gtest/gtest.h>

#include "analysis/overview/run_overview.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

constexpr std::string_view kLinear = "bf16[1024, 1024], bf16[1024, 1024], bf16[1024]";
constexpr std::string_view kAddmm = "bf16[1024], bf16[1024, 1024], bf16[1024, 1024], 1, 1";
constexpr double kFlops = 2.0 * 1024 * 1024 * 1024;

// Four steps of 100 us with one linear layer (linear around addmm) of 10 us on the GPU.
Store Linear(bool with_gpu) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = i * 100'000;
    build.Range(main, "step", t, t + 100'000);
    build.Operator(main, "aten::linear", t + 1'000, t + 21'000);
    build.Operator(main, "aten::addmm", t + 2'000, t + 20'000);
    if (with_gpu) build.Kernel(main, "nvjet_tst_128", t + 3'000, t + 30'000, t + 40'000);
  }
  Store store = build.Build();
  const StringId linear = store.strings.Intern(kLinear);
  const StringId addmm = store.strings.Intern(kAddmm);
  for (size_t i = 0; i < store.operator_calls.size(); ++i) {
    const bool outer = store.operator_calls.parent[i].IsNone();
    store.operator_calls.inputs[i] = outer ? linear : addmm;
  }
  if (with_gpu) {
    store.gpus.Append({.name = store.strings.Intern("NVIDIA H200"), .compute_major = 9});
  }
  return store;
}

Roofline Analyze(const Store& store) { return BuildOverview(store).roofline; }

TEST(Roofline, CompositesAreNotCountedTwice) {
  const Store store = Linear(true);
  const Roofline found = Analyze(store);
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(store.Text(found.rows[0].name), "aten::addmm");
  EXPECT_EQ(found.rows[0].calls, 4u);
  EXPECT_DOUBLE_EQ(found.flops_per_step, kFlops);
}

// As nsys's ranges of operators have them: sizes without types.
TEST(Roofline, TypesThatAreMissingAreThoseOfTheKernels) {
  Store store = Linear(true);
  for (size_t i = 0; i < store.operator_calls.size(); ++i) {
    store.operator_calls.inputs[i] =
        store.strings.Intern("t[1024], t[1024, 1024], t[1024, 1024], -, -");
  }
  for (size_t i = 0; i < store.kernels.size(); ++i) {
    store.kernels.demangled_name[i] =
        store.strings.Intern("nvjet_sm90_tst_64x8_64x16_2x4_h_bz_TNT");
  }
  const Roofline found = Analyze(store);
  EXPECT_EQ(found.peak_dtype, "f16 or bf16");
  EXPECT_NEAR(found.mfu, kFlops / 100'000 / 1e3 / 989.4, 0.0001);
}

TEST(Roofline, AchievedAndOfPeak) {
  const Store store = Linear(true);
  const Roofline found = Analyze(store);
  const RooflineRow& row = found.rows[0];
  EXPECT_NEAR(row.tflops(), kFlops / 10'000 / 1e3, 0.01);  // 214.7
  EXPECT_FALSE(row.memory_bound);
  EXPECT_NEAR(row.of_peak, 214.7 / 989.4, 0.001);
  EXPECT_EQ(found.peak_dtype, "bf16");
  EXPECT_NEAR(found.mfu, kFlops / 100'000 / 1e3 / 989.4, 0.0001);
  EXPECT_NEAR(found.known_time_share, 1, 1e-9);
}

TEST(Roofline, WithoutGpuTheCpuTimeCounts) {
  const Store store = Linear(false);
  const Roofline found = Analyze(store);
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].time_ns, 4 * 18'000);
  EXPECT_EQ(found.mfu, 0);
}

TEST(Roofline, NoShapesNoRows) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  build.Operator(main, "aten::addmm", 0, 10);
  EXPECT_TRUE(Analyze(build.Build()).rows.empty());
}

TEST(GpuPeaks, UnknownGpuIsEstimatedFromItsProperties) {
  GpusRow gpu;
  gpu.compute_major = 9;
  gpu.sm_count = 100;
  gpu.clock_khz = 2'000'000;
  const GpuPeaks peaks = PeaksOf("NVIDIA Something", gpu);
  EXPECT_FALSE(peaks.known);
  EXPECT_DOUBLE_EQ(peaks.fp32_tflops, 51.2);
  EXPECT_DOUBLE_EQ(PeakTflops(PeaksOf("NVIDIA H200", gpu), "f32", true), 494.7);
}

}  // namespace
}  // namespace batchlight
