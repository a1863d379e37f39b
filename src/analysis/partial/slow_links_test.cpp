#include "analysis/partial/slow_links.h"

#include <gtest/gtest.h>

#include "analysis/partial/job_result.h"
#include "analysis/testing/simulated_job.h"

namespace batchlight {
namespace {

// 64 ranks on 8 hosts whose groups of 8 talk among themselves; transfers differ by 30 %, one in
// fifty takes ten times as long.
testing::SimulatedJob JobOf(uint64_t seed) {
  return {.ranks = 64, .links = 0.3, .congested = 0.02, .group = 8, .seed = seed};
}

std::vector<SlowLink> LinksOf(const testing::SimulatedJob& job) {
  testing::SimulatedRanks simulated = testing::Simulate(job);
  std::vector<JobPart> parts;
  for (size_t rank = 0; rank < job.ranks; ++rank) {
    JobPart& part = parts.emplace_back();
    part.identity.label = part.identity.first_process = "r" + std::to_string(rank);
    part.identity.ranks = {int32_t(rank)};
    part.identity.world_size = int32_t(job.ranks);
    part.identity.job = "7";
    RankPartial& one = part.ranks.emplace_back();
    one.rank = int32_t(rank);
    one.host = "node" + std::to_string(rank / job.ranks_per_host);
    one.calls = std::move(simulated.calls[rank]);
    for (size_t step = 0; step < job.steps; ++step) {
      one.step_ns.push_back(100'000'000);
      one.step_number.push_back(int64_t(step));
      one.steady.push_back(uint32_t(step));
    }
  }
  Result<JobResult> result = CompareRanks(std::move(parts), JobClock::kNone);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result->slow_links;
}

TEST(SlowLinks, TheGroupWithOneIsNamed) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    testing::SimulatedJob job = JobOf(seed);
    job.slow_group = int(seed % 8);
    job.slow_link = 2;
    const std::vector<SlowLink> found = LinksOf(job);
    ASSERT_EQ(found.size(), 1u) << seed;
    EXPECT_EQ(found[0].members.front(), 8 * (seed % 8)) << seed;
    EXPECT_EQ(found[0].members.size(), 8u);
    EXPECT_EQ(found[0].hosts, 1u);
    EXPECT_EQ(found[0].like, 7u);
    EXPECT_NEAR(found[0].transfer_ns / found[0].others_ns, 2, 0.2);
    EXPECT_NEAR(found[0].longer_per_step_ns, 8 * 60e3, 8 * 15e3);
  }
}

TEST(SlowLinks, NoneIsOfAHealthyJob) {
  for (uint64_t seed = 1; seed <= 50; ++seed) EXPECT_TRUE(LinksOf(JobOf(seed)).empty()) << seed;
}

// Nor where one rank is late: waiting for it is no transfer.
TEST(SlowLinks, ALateRankIsNone) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    testing::SimulatedJob job = JobOf(seed);
    job.slow_rank = 13;
    EXPECT_TRUE(LinksOf(job).empty()) << seed;
  }
}

// Groups across hosts pass the network: they are not compared with those within a host.
TEST(SlowLinks, GroupsAreComparedWithTheirLike) {
  testing::SimulatedJob job = JobOf(3);
  job.slow_group = 0;
  job.slow_link = 2;
  job.ranks_per_host = 24;  // group 2 and 5 lie on one host as the others: all alike
  EXPECT_EQ(LinksOf(job).size(), 1u);
  job.ranks_per_host = 4;
  EXPECT_EQ(LinksOf(job).size(), 1u);
  job.ranks = 24;  // groups 0, 1 and 2, of which 0 and 1 lie on one host, 2 on two
  job.ranks_per_host = 20;
  EXPECT_TRUE(LinksOf(job).empty()) << "of one other nobody knows which is usual";
}

}  // namespace
}  // namespace batchlight
