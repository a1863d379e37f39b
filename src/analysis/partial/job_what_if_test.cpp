#include "analysis/partial/job_what_if.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace batchlight {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr size_t kSteps = 10;

// dp=2,pp=2 with steps of 120 ms, of which each rank computes 100 ms, 60 of them forward.
struct FourRanks {
  struct Rank {
    std::vector<int64_t> step_ns = std::vector<int64_t>(kSteps, 120 * kMs);
    std::vector<int64_t> lost_ns = std::vector<int64_t>(kSteps, 20 * kMs);
    std::vector<uint32_t> forward_us = std::vector<uint32_t>(kSteps, 60'000);
    std::vector<uint32_t> loading_us = std::vector<uint32_t>(kSteps, 40'000);
  };
  std::vector<Rank> ranks = std::vector<Rank>(4);
  std::vector<uint32_t> rows = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

  std::optional<WhatIf> Ask(size_t count = 4) const { return AskJobWhatIf(Look(count)); }
  std::vector<RankOwnSteps> Look(size_t count) const {
    std::vector<RankOwnSteps> all;
    for (size_t rank = 0; rank < count; ++rank) {
      all.push_back({.rank = int32_t(rank),
                     .replica = int32_t(rank) / 2,
                     .stage = int32_t(rank) % 2,
                     .rows = std::span(rows).first(ranks[rank].step_ns.size()),
                     .step_ns = ranks[rank].step_ns,
                     .lost_ns = ranks[rank].lost_ns,
                     .works = {{"forward", ranks[rank].forward_us},
                               {"data loading", ranks[rank].loading_us}}});
    }
    return all;
  }
};

TEST(JobWhatIf, NothingIsLostWhereAllAreAlike) {
  const auto found = FourRanks().Ask();
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->slowdown(), 1);
  EXPECT_DOUBLE_EQ(found->step_s, 0.120);
  EXPECT_DOUBLE_EQ(found->share_of_workers(), 0);
  EXPECT_EQ(found->healed, 1u);
}

// Rank 2 takes 40 ms longer for data in every second step, in which all wait.
TEST(JobWhatIf, OneSlowWorker) {
  FourRanks job;
  for (size_t step = 0; step < kSteps; step += 2) {
    for (FourRanks::Rank& rank : job.ranks) {
      rank.step_ns[step] += 40 * kMs;
      rank.lost_ns[step] += 40 * kMs;
    }
    job.ranks[2].lost_ns[step] -= 40 * kMs;
    job.ranks[2].loading_us[step] += 40'000;
  }
  const auto found = job.Ask();
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->step_s, 0.140);
  EXPECT_DOUBLE_EQ(found->ideal_s, 0.125);  // the work is there, shared by all
  EXPECT_EQ(found->workers[0].rank, 2);
  EXPECT_NEAR(found->workers[0].slowdown, found->slowdown(), 1e-9);
  EXPECT_DOUBLE_EQ(found->workers[1].slowdown, 1);
  EXPECT_NEAR(found->share_of_workers(), 1, 1e-9);
  EXPECT_EQ(found->works[0].name, "data loading");
  EXPECT_NEAR(found->works[0].slowdown, found->slowdown(), 1e-9);
  EXPECT_DOUBLE_EQ(found->works[1].slowdown, 1);
  EXPECT_NEAR(found->stages[0].slowdown, found->slowdown(), 1e-9);
  EXPECT_DOUBLE_EQ(found->stages[1].slowdown, 1);
  EXPECT_DOUBLE_EQ(found->share_of_stage(), 0);
}

TEST(JobWhatIf, ALastStageThatIsTooLarge) {
  FourRanks job;
  for (FourRanks::Rank& rank : job.ranks) {
    rank.step_ns.assign(kSteps, 150 * kMs);
    rank.lost_ns.assign(kSteps, 50 * kMs);
  }
  for (const size_t row : {size_t{1}, size_t{3}}) job.ranks[row].lost_ns.assign(kSteps, 20 * kMs);
  const auto found = job.Ask();
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->slowdown(), 150 / 135.0, 1e-9);
  EXPECT_DOUBLE_EQ(found->share_of_stage(), 1);
  EXPECT_DOUBLE_EQ(found->share_of_workers(), 0) << "the other replica has it too";
  EXPECT_GT(found->stages[1].slowdown, found->stages[0].slowdown);
}

TEST(JobWhatIf, NothingIsKnownOfOneRankOrWithoutSteps) {
  FourRanks job;
  EXPECT_FALSE(job.Ask(1));
  EXPECT_FALSE(job.Ask(0));
  job.ranks[1].step_ns.clear();  // it was killed
  EXPECT_TRUE(job.Ask());
  for (FourRanks::Rank& rank : job.ranks) rank.step_ns.clear();
  EXPECT_FALSE(job.Ask());
}

// As forged files have them: works of a rank's own, in a job of many steps, and numbers that no
// clock has. Room for all steps of each work would be 3 GB.
TEST(JobWhatIf, WorksTakeAsMuchRoomAsTheyHaveSteps) {
  FourRanks job;
  job.rows.resize(50'000);
  std::iota(job.rows.begin(), job.rows.end(), 0);
  job.ranks[0].step_ns.assign(job.rows.size(), 120 * kMs);
  std::vector<std::string> names;
  for (int i = 0; i < 4000; ++i) names.push_back("work " + std::to_string(i));
  const std::vector<uint32_t> us(kSteps, 60'000);
  std::vector<RankOwnSteps> all = job.Look(4);
  for (const std::string& name : names) all[1].works.push_back({name, us});
  const auto found = AskJobWhatIf(all);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->works.size(), names.size() + 2);
}

TEST(JobWhatIf, StagesAreThoseThatRanksHave) {
  FourRanks job;
  std::vector<RankOwnSteps> all = job.Look(4);
  all[3].stage = 1 << 30;
  const auto found = AskJobWhatIf(all);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->stages.size(), 3u);
  EXPECT_EQ(found->stages[2].name, "stage 1073741824");
}

TEST(JobWhatIf, StepsThatNoClockHasAreNoWork) {
  FourRanks job;
  job.ranks[0].step_ns.assign(kSteps, INT64_MIN);
  EXPECT_EQ(job.Look(1)[0].OwnNs(0), 0);
}

// What a stage spends in sends and receives with nothing computed is no work of its own.
TEST(JobWhatIf, TheBubbleIsNoWork) {
  RankPartial rank;
  rank.step_ns = {100 * kMs, 100 * kMs};
  rank.calls.kinds = {{.communicator = 7, .ranks = 2, .operation = "Recv", .bytes = 4},
                      {.communicator = 7, .ranks = 2, .operation = "AllReduce", .bytes = 4}};
  rank.calls.kind = {0, 1, 0};
  rank.calls.exposed = {uint32_t(5 * kMs / kCallTickNs), 77, uint32_t(3 * kMs / kCallTickNs)};
  rank.calls.step_begin = {0, 2, 3};
  const std::vector<uint32_t> rows = {0, 1};
  const std::vector<int64_t> lost = {10 * kMs, 0};
  const RankOwnSteps own = OwnStepsOf(rank, rows, lost);
  EXPECT_EQ(own.OwnNs(0), 85 * kMs);
  EXPECT_EQ(own.OwnNs(1), 97 * kMs);
}

}  // namespace
}  // namespace batchlight
