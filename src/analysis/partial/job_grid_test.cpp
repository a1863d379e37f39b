#include "analysis/partial/job_grid.h"

#include <gtest/gtest.h>

#include <map>

namespace batchlight {
namespace {

constexpr size_t kSteps = 10;
constexpr int64_t kStepNs = 1'000'000;
constexpr uint32_t kMicroBatches = 4;

// Kernels in ticks of 16 ns, all exposed.
void AddCall(RankCalls& rank, const CallKind& kind, uint32_t kernel) {
  const auto known = std::find(rank.kinds.begin(), rank.kinds.end(), kind);
  rank.kind.push_back(static_cast<uint16_t>(known - rank.kinds.begin()));
  if (known == rank.kinds.end()) rank.kinds.push_back(kind);
  rank.kernel.push_back(kernel);
  rank.exposed.push_back(kernel);
}

// Eight ranks, pp=2,dp=2,tp=2: in each step an AllReduce along tp, of which the second rank waits
// for the first; one along dp; and micro-batches between the stages, for which stage 1 waits.
std::vector<RankCalls> SmallJob() {
  std::vector<RankCalls> ranks(8);
  for (uint32_t number = 0; number < 8; ++number) {
    RankCalls& rank = ranks[number];
    const uint32_t tp = number % 2, dp = number / 2 % 2, pp = number / 4;
    for (size_t step = 0; step < kSteps; ++step) {
      rank.step_begin.push_back(static_cast<uint32_t>(rank.size()));
      const uint32_t first = step == 0 ? 10'000 : 0;
      AddCall(rank, {100 + number / 2, 2, "AllReduce", 8}, first + (tp == 0 ? 100 : 300));
      AddCall(rank, {200 + pp * 2 + tp, 2, "AllReduce", 64}, 50);
      for (uint32_t batch = 0; batch < kMicroBatches; ++batch) {
        const uint64_t between = 300 + dp * 2 + tp;
        AddCall(rank, {between, 2, pp == 0 ? "Send" : "Recv", 16}, pp == 0 ? 5 : 20);
        AddCall(rank, {between, 2, pp == 0 ? "Recv" : "Send", 16}, 10);
      }
    }
    rank.step_begin.push_back(static_cast<uint32_t>(rank.size()));
  }
  return ranks;
}

struct Measured {
  std::optional<RankGrid> grid;
  std::map<std::string, AxisTotal> axes;
  std::optional<Pipeline> pipeline;
};

Measured Measure(const std::vector<RankCalls>& calls) {
  std::vector<const RankCalls*> pointers;
  std::vector<GroupSums::Rank> ranks;
  for (const RankCalls& rank : calls) {
    ranks.push_back({static_cast<int32_t>(pointers.size()), kSteps - 1, double(kStepNs)});
    pointers.push_back(&rank);
  }
  std::vector<uint32_t> steady;  // the first step does not count
  for (uint32_t step = 1; step < kSteps; ++step) steady.push_back(step);
  GroupSums sums(pointers, std::vector<std::span<const uint32_t>>(calls.size(), steady));
  ReplayCalls(pointers, NumberCalls(pointers, {}),
              [&](std::span<const CallOfRank> call) { sums.Add(call); });
  Measured measured{.grid = FindGrid(sums.Groups(ranks), ranks.size())};
  const RankGrid* const grid = measured.grid ? &*measured.grid : nullptr;
  for (AxisTotal& axis : sums.Axes(ranks, grid)) measured.axes[axis.name] = axis;
  measured.pipeline = sums.Stages(ranks, grid);
  return measured;
}

TEST(JobGrid, ExposedCommunicationIsThatOfEachAxis) {
  const Measured measured = Measure(SmallJob());
  ASSERT_TRUE(measured.grid.has_value());
  EXPECT_EQ(measured.grid->Text(), "pp=2,dp=2,tp=2");
  const AxisTotal& tp = measured.axes.at("tp");
  EXPECT_EQ(tp.groups, 4u);
  EXPECT_EQ(tp.ranks, 2u);
  EXPECT_DOUBLE_EQ(tp.exposed_ns, 200 * kCallTickNs);
  EXPECT_DOUBLE_EQ(tp.lost_ns, 100 * kCallTickNs);
  EXPECT_DOUBLE_EQ(measured.axes.at("dp").exposed_ns, 50 * kCallTickNs);
  EXPECT_DOUBLE_EQ(measured.axes.at("dp").lost_ns, 0);
  EXPECT_DOUBLE_EQ(measured.axes.at("pp").exposed_ns, 4 * (15 + 30) / 2.0 * kCallTickNs);
}

TEST(JobGrid, StagesTellTheBubble) {
  const Measured measured = Measure(SmallJob());
  ASSERT_TRUE(measured.pipeline.has_value());
  ASSERT_EQ(measured.pipeline->stages.size(), 2u);
  EXPECT_EQ(measured.pipeline->stages[0].ranks, 4u);
  EXPECT_DOUBLE_EQ(measured.pipeline->stages[0].exposed_ns, 4 * 15 * kCallTickNs);
  EXPECT_DOUBLE_EQ(measured.pipeline->stages[1].exposed_ns, 4 * 30 * kCallTickNs);
  EXPECT_DOUBLE_EQ(measured.pipeline->bubble, 4 * 22.5 * kCallTickNs / double(kStepNs));
  EXPECT_EQ(measured.pipeline->micro_batches, kMicroBatches);
  EXPECT_DOUBLE_EQ(measured.pipeline->least_bubble(), 1.0 / 5);
}

TEST(JobGrid, OneGroupOfAllIsNoGrid) {
  std::vector<RankCalls> ranks(4);
  for (RankCalls& rank : ranks) {
    for (uint32_t step = 0; step < kSteps; ++step) {
      rank.step_begin.push_back(step);
      AddCall(rank, {7, 4, "AllReduce", 8}, 100);
    }
    rank.step_begin.push_back(kSteps);
  }
  const Measured measured = Measure(ranks);
  EXPECT_FALSE(measured.grid.has_value());
  EXPECT_FALSE(measured.pipeline.has_value());
  EXPECT_DOUBLE_EQ(measured.axes.at("all ranks").exposed_ns, 100 * kCallTickNs);
}

}  // namespace
}  // namespace batchlight
