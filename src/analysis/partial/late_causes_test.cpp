#include "analysis/partial/late_causes.h"

#include <gtest/gtest.h>

#include "analysis/partial/partial_bytes.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr uint32_t kSteps = 20;

// Steps of 10 ms, in every fifth of which Python collects garbage for so long; samples of NVML say
// the rest. Kernels run on CUDA's device 0, which is the machine's device 3.
RankPartial RankOf(int64_t collects_ms, double clock_mhz, double held_by_heat) {
  testing::StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(9, "train.py", 2));
  Store& store = build.store();
  const StringId uuid = build.Text("GPU-7");
  store.gpus.Append({.device = 0, .uuid = uuid});
  for (const char* metric : {"SM clock", "held back by heat"}) {
    store.gpu_metrics.Append(
        {.device = 0, .uuid = build.Text("GPU-5"), .metric = build.Text(metric)});
    store.gpu_metrics.Append({.device = 3, .uuid = uuid, .metric = build.Text(metric)});
  }
  const auto sample = [&](int64_t at_ns, uint32_t device, const char* metric, double value) {
    store.gpu_metric_samples.Append(
        {.start_ns = at_ns, .device = device, .metric = build.Text(metric), .value = value});
  };
  for (int64_t i = 0; i < kSteps; ++i) {
    const int64_t at_ns = i * 10 * kMs;
    build.Range(thread, "step", at_ns, at_ns + 10 * kMs);
    build.Phase(thread, Phase::kBackward, "backward", at_ns + kMs, at_ns + 2 * kMs);
    build.Kernel(thread, "gemm", at_ns + kMs, at_ns + 2 * kMs, at_ns + 4 * kMs);
    if (i % 5 == 0 && collects_ms > 0) {
      build.Phase(thread, Phase::kGarbageCollection, "garbage collection", at_ns + 5 * kMs,
                  at_ns + (5 + collects_ms) * kMs);
    }
    sample(at_ns + 3 * kMs, 0, "SM clock", 300);
    sample(at_ns + 3 * kMs, 3, "SM clock", clock_mhz);
    sample(at_ns + 3 * kMs, 3, "held back by heat", held_by_heat);
  }
  const auto kept = DecodeJobPart(EncodeJobPart(MakeJobPart("a.batchlight", build.Build())));
  return kept ? kept->ranks.at(0) : RankPartial();
}

LateCauses CausesOf(const std::vector<RankPartial>& ranks, size_t row) {
  std::vector<const RankPartial*> pointers;
  std::vector<std::vector<uint32_t>> rows;
  for (const RankPartial& rank : ranks) {
    pointers.push_back(&rank);
    rows.push_back(rank.steady);
  }
  std::vector<uint32_t> late;
  for (uint32_t place = 0; place < rows[row].size(); ++place) {
    if (rows[row][place] % 5 == 0) late.push_back(place);
  }
  return FindLateCauses(pointers, rows, row, late, 3.0 * kMs);
}

TEST(LateCauses, TheGarbageCollectorIsNamed) {
  const LateCauses found =
      CausesOf({RankOf(0, 1700, 0), RankOf(4, 1700, 0), RankOf(1, 1700, 0)}, 1);
  EXPECT_NEAR(found.collected_ns, 4.0 * kMs, 0.01 * kMs);
  EXPECT_NEAR(found.others_collected_ns, 1.0 * kMs, 0.01 * kMs);
  EXPECT_FALSE(found.clock);
  // All collect alike: that is nothing of this rank.
  EXPECT_EQ(CausesOf({RankOf(4, 1700, 0), RankOf(4, 1700, 0)}, 1).collected_ns, 0);
}

TEST(LateCauses, AClockThatIsHeldBackIsNamed) {
  const LateCauses found =
      CausesOf({RankOf(0, 1700, 0), RankOf(0, 1200, 80), RankOf(0, 1720, 0)}, 1);
  ASSERT_TRUE(found.clock);
  EXPECT_NEAR(found.clock->mhz, 1200, 1);
  EXPECT_NEAR(found.clock->others_mhz, 1710, 11);
  EXPECT_NEAR(found.clock->held_by_heat, 0.8, 0.001);
  EXPECT_EQ(found.clock->others_held_by_heat, 0);
  EXPECT_EQ(found.clock->held_by_power, -1);
  EXPECT_FALSE(CausesOf({RankOf(0, 1700, 0), RankOf(0, 1690, 5)}, 1).clock);
}

TEST(LateCauses, WhatIsNotKnownIsNotSaid) {
  RankPartial rank = RankOf(0, 1200, 80);
  RankPartial other = rank;
  other.condition = {};
  EXPECT_FALSE(CausesOf({other, rank}, 1).clock);
  EXPECT_FALSE(CausesOf({rank, other}, 1).clock);
}

}  // namespace
}  // namespace batchlight
