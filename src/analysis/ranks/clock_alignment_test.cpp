#include "analysis/ranks/clock_alignment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "analysis/testing/simulated_job.h"

namespace batchlight {
namespace {

// One input a host; `start_ns`: where the hosts' own clocks are known to be, to a second.
ClockAlignment AlignHosts(const testing::SimulatedRanks& simulated, size_t ranks_per_host) {
  std::vector<ClockInput> inputs(simulated.clock_off_ns.size());
  for (size_t rank = 0; rank < simulated.calls.size(); ++rank) {
    inputs[rank / ranks_per_host].ranks.push_back(&simulated.calls[rank]);
  }
  return AlignClocks(inputs);
}

TEST(ClockAlignment, OffsetAndDriftOfEveryHostAreFound) {
  const testing::SimulatedRanks simulated = testing::Simulate({.ranks = 32,
                                                               .ranks_per_host = 4,
                                                               .steps = 60,
                                                               .calls_per_step = 4,
                                                               .clock_off_ns = 500e3,
                                                               .clock_drift = 5e-6});
  const ClockAlignment found = AlignHosts(simulated, 4);
  EXPECT_EQ(found.aligned, 8u);
  EXPECT_LT(found.residual_ns, 1000);
  for (size_t host = 0; host < 8; ++host) {
    for (const double at_ns : {1.2e9, 4e9, 7e9}) {
      const double own_ns =
          at_ns * (1 + simulated.clock_drift[host]) + simulated.clock_off_ns[host];
      EXPECT_NEAR(double(found.shifts[host].Of(int64_t(own_ns))), at_ns, 500)
          << "host " << host << " at " << at_ns;
    }
  }
  EXPECT_NE(found.Text().find("8 clocks are aligned"), std::string::npos) << found.Text();
}

TEST(ClockAlignment, HoursApartAreAlignedAllTheSame) {
  const testing::SimulatedRanks simulated =
      testing::Simulate({.ranks = 4, .ranks_per_host = 2, .clock_off_ns = 3600e9});
  const ClockAlignment found = AlignHosts(simulated, 2);
  EXPECT_EQ(found.aligned, 2u);
  EXPECT_LT(found.residual_ns, 1000);
}

TEST(ClockAlignment, WithoutAllReducesClocksStayAsTheyAre) {
  testing::SimulatedRanks simulated =
      testing::Simulate({.ranks = 4, .ranks_per_host = 2, .clock_off_ns = 1e6});
  for (RankCalls& rank : simulated.calls) rank.kinds[0].operation = "Broadcast";
  const ClockAlignment found = AlignHosts(simulated, 2);
  EXPECT_EQ(found.aligned, 0u);
  EXPECT_EQ(found.Text(), "");
  EXPECT_EQ(found.shifts[1].Of(5), 5);
}

// A and C never meet; B is in a group with each.
TEST(ClockAlignment, GoesByWayOfOthers) {
  const testing::SimulatedRanks simulated =
      testing::Simulate({.ranks = 4, .ranks_per_host = 1, .clock_off_ns = 1e6});
  std::vector<RankCalls> ranks = simulated.calls;
  for (RankCalls& rank : ranks) {
    RankCalls other = rank;
    other.kinds[0].communicator = 8;
    rank.kinds.push_back(other.kinds[0]);
  }
  // Every second call is on the other communicator; rank 0 makes those of the first alone, rank 3
  // those of the second.
  const auto keep = [](RankCalls& rank, bool first, bool second) {
    RankCalls kept;
    kept.kinds = rank.kinds;
    const std::vector<int64_t> ends_ns = rank.ends.Decode();
    for (size_t call = 0; call < rank.size(); ++call) {
      const bool is_second = call % 2 == 1;
      if (is_second ? !second : !first) continue;
      kept.kind.push_back(is_second ? 1 : 0);
      kept.kernel.push_back(rank.kernel[call]);
      kept.exposed.push_back(rank.exposed[call]);
      kept.ends.Append(ends_ns[call]);
    }
    rank = kept;
  };
  keep(ranks[0], true, false);
  keep(ranks[1], true, true);
  keep(ranks[2], true, true);
  keep(ranks[3], false, true);
  std::vector<ClockInput> inputs(4);
  for (size_t i = 0; i < 4; ++i) inputs[i].ranks = {&ranks[i]};
  const ClockAlignment found = AlignClocks(inputs);
  EXPECT_EQ(found.aligned, 4u);
  const double own_ns = 2e9 + simulated.clock_off_ns[3];
  EXPECT_NEAR(double(found.shifts[3].Of(int64_t(own_ns))), 2e9, 1000);
}

}  // namespace
}  // namespace batchlight
