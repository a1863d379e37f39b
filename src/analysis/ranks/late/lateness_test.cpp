#include "analysis/ranks/late/lateness.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "analysis/ranks/late/late_rank.h"
#include "analysis/testing/simulated_job.h"

namespace batchlight {
namespace {

using testing::SimulatedJob;
using testing::SimulatedRanks;

std::vector<const RankCalls*> PointersTo(const std::vector<RankCalls>& ranks) {
  std::vector<const RankCalls*> pointers;
  for (const RankCalls& rank : ranks) pointers.push_back(&rank);
  return pointers;
}

JobLateness LatenessOf(const std::vector<RankCalls>& ranks) {
  const std::vector<const RankCalls*> pointers = PointersTo(ranks);
  return MeasureLateness(pointers, NumberCalls(pointers, {}));
}

std::optional<LateRank> StragglerOf(const SimulatedJob& job) {
  const SimulatedRanks simulated = testing::Simulate(job);
  std::vector<CostOfSteps> costs;
  for (Lateness& rank : LatenessOf(simulated.calls).ranks) costs.push_back(std::move(rank.cost_ns));
  return FindLateRank(costs, job.step_ns);
}

// A rank whose calls have these kernels, in ticks, all exposed; `communicators`: of each.
RankCalls RankOf(const std::vector<uint32_t>& kernels, const std::vector<uint64_t>& communicators) {
  RankCalls rank;
  for (size_t call = 0; call < kernels.size(); ++call) {
    const CallKind kind{.communicator = communicators[call], .operation = "AllReduce", .bytes = 8};
    rank.kinds.push_back(kind);
    rank.kind.push_back(static_cast<uint16_t>(call));
    rank.kernel.push_back(kernels[call]);
    rank.exposed.push_back(kernels[call]);
    rank.ends.Append(static_cast<int64_t>(call) * 1'000'000);
  }
  rank.step_begin = {0, static_cast<uint32_t>(kernels.size())};
  return rank;
}

TEST(Lateness, TheRankThatComesLastCostsWhatTheOthersWait) {
  const JobLateness found = LatenessOf(
      {RankOf({1100, 600}, {1, 1}), RankOf({100, 500}, {1, 1}), RankOf({1100, 100}, {1, 1})});
  EXPECT_TRUE(found.knows_waits);
  EXPECT_EQ(found.ranks[1].cost_ns[0], 1000 * kCallTickNs);
  // Rank 2 was as late as rank 0 by then: both had waited for rank 1.
  EXPECT_EQ(found.ranks[2].cost_ns[0], 400 * kCallTickNs);
  EXPECT_EQ(found.ranks[0].waited_ns[0], 1500 * kCallTickNs);
  EXPECT_EQ(found.ranks[1].last, 1u);
}

TEST(Lateness, WaitingThatComputingHidesCostsNothing) {
  std::vector<RankCalls> ranks = {RankOf({1100}, {1}), RankOf({100}, {1})};
  ranks[0].exposed[0] = 300;
  const JobLateness found = LatenessOf(ranks);
  EXPECT_EQ(found.ranks[1].cost_ns[0], 200 * kCallTickNs);
  EXPECT_EQ(found.ranks[0].waited_ns[0], 1000 * kCallTickNs);
  EXPECT_EQ(found.ranks[0].lost_ns[0], 200 * kCallTickNs);
}

// Rank 0 makes its neighbour late, which then comes last to a group that rank 0 is not in.
TEST(Lateness, WhoWasMadeLateIsNotToBlame) {
  const JobLateness found =
      LatenessOf({RankOf({100}, {1}), RankOf({5100, 100}, {1, 2}), RankOf({5100}, {2})});
  EXPECT_EQ(found.ranks[0].cost_ns[0], 5000 * kCallTickNs);
  EXPECT_EQ(found.ranks[1].cost_ns[0], 0);
}

// The other order on two communicators, as on two streams, ends all the same.
TEST(Lateness, CallsInAnotherOrderDoNotStopTheReplay) {
  const JobLateness found = LatenessOf({RankOf({500, 100}, {1, 2}), RankOf({500, 100}, {2, 1})});
  EXPECT_EQ(found.ranks[0].calls + found.ranks[1].calls, 4u);
}

TEST(Lateness, CallsThatOneRankDidNotRecordAreShifted) {
  const SimulatedRanks simulated = testing::Simulate({.ranks = 2, .slow_rank = 1});
  std::vector<RankCalls> ranks = simulated.calls;
  RankCalls& late = ranks[0];  // began to record 11 calls later
  const auto cut = [](auto& column) { column.erase(column.begin(), column.begin() + 11); };
  std::vector<int64_t> ends_ns = late.ends.Decode();
  cut(late.kind), cut(late.kernel), cut(late.exposed), cut(ends_ns);
  late.ends = {};
  for (const int64_t end_ns : ends_ns) late.ends.Append(end_ns);
  late.step_begin.clear();
  const std::vector<const RankCalls*> pointers = PointersTo(ranks);
  const std::vector<FirstNumbers> first = NumberCalls(pointers, {});
  EXPECT_EQ(first[0].at(7), 11u);
  EXPECT_EQ(first[1].at(7), 0u);
}

constexpr double kLinks = 0.3;       // how much transfers differ
constexpr double kCongested = 0.02;  // and how many take ten times as long

TEST(Simulator, OneStragglerOf64IsFoundInEachOf50Jobs) {
  size_t found = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const int slow = static_cast<int>(seed * 7 % 64);
    const auto straggler =
        StragglerOf({.slow_rank = slow, .links = kLinks, .congested = kCongested, .seed = seed});
    if (straggler && static_cast<int>(straggler->rank) == slow) ++found;
  }
  EXPECT_EQ(found, 50u);
}

TEST(Simulator, NoneIsFoundInAnyOf50HealthyJobs) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const auto straggler =
        StragglerOf({.links = kLinks, .congested = kCongested, .seed = 1000 + seed});
    EXPECT_FALSE(straggler.has_value())
        << "seed " << seed << " rank " << straggler->rank << " " << straggler->waited_ns;
  }
}

// A thousand ranks on 125 hosts with clocks of their own.
SimulatedJob Thousand(uint64_t seed) {
  return {.ranks = 1000,
          .clock_off_ns = 500e3,
          .clock_drift = 5e-6,
          .links = kLinks,
          .congested = kCongested,
          .seed = seed};
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kLargeJobs = 5;  // they take ten times as long there
#else
constexpr uint64_t kLargeJobs = 50;
#endif

TEST(Simulator, OneStragglerOfAThousandIsFoundInEachOf50Jobs) {
  for (uint64_t seed = 1; seed <= kLargeJobs; ++seed) {
    SimulatedJob job = Thousand(seed);
    job.slow_rank = static_cast<int>(seed * 97 % 1000);
    const auto straggler = StragglerOf(job);
    ASSERT_TRUE(straggler.has_value()) << seed;
    EXPECT_EQ(static_cast<int>(straggler->rank), job.slow_rank) << seed;
  }
}

TEST(Simulator, NoneOfAThousandHealthyRanksIsBlamedInAnyOf50Jobs) {
  for (uint64_t seed = 1; seed <= kLargeJobs; ++seed) {
    const auto straggler = StragglerOf(Thousand(2000 + seed));
    EXPECT_FALSE(straggler.has_value()) << "seed " << seed << " rank " << straggler->rank;
  }
}

// Steps of 4 ms in which ranks lose 2 % now and then, 10 % at times, as where launching is what
// takes long.
SimulatedJob ShortSteps(uint64_t seed) {
  return {.ranks = 2 + seed % 7,
          .steps = 60,
          .calls_per_step = 2,
          .step_ns = 4e6,
          .jitter = 0.02,
          .speeds = 0.001,
          .seed = seed};
}

TEST(Simulator, NoneIsFoundInAnyOf200HealthyJobsOfShortSteps) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto straggler = StragglerOf(ShortSteps(seed));
    EXPECT_FALSE(straggler.has_value())
        << "seed " << seed << " rank " << straggler->rank << " " << straggler->waited_ns;
  }
}

TEST(Simulator, AStragglerOfShortStepsIsFoundInEachOf50Jobs) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SimulatedJob job = ShortSteps(seed);
    job.slow_rank = static_cast<int>(seed % job.ranks);
    const auto straggler = StragglerOf(job);
    ASSERT_TRUE(straggler.has_value()) << seed;
    EXPECT_EQ(static_cast<int>(straggler->rank), job.slow_rank) << seed;
  }
}

// 30 ms in every fifth step of 150 ms, on four ranks.
TEST(Simulator, ARankThatIsLateNowAndThenIsFoundWithItsSteps) {
  const auto straggler = StragglerOf({.ranks = 4,
                                      .steps = 60,
                                      .step_ns = 150e6,
                                      .noise = 0.01,
                                      .slow_rank = 2,
                                      .slower = 0.2,
                                      .every = 5});
  ASSERT_TRUE(straggler.has_value());
  EXPECT_EQ(straggler->rank, 2u);
  EXPECT_NEAR(straggler->waited_ns, 6e6, 1e6);
  ASSERT_GE(straggler->late_steps.size(), 12u);
}

}  // namespace
}  // namespace batchlight
