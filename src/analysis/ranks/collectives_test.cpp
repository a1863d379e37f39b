#include "analysis/ranks/collectives.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/overview/run_overview.h"
#include "analysis/tables/overview_tables.h"
#include "analysis/testing/two_ranks.h"

namespace batchlight {
namespace {

TEST(CollectivesTest, BandwidthIsThatOfTheShortestKernelAndTheRestIsWaiting) {
  const Store store = testing::MakeTwoRanks(20);
  const RunOverview overview = BuildOverview(store);
  ASSERT_EQ(overview.distributed.collectives.size(), 1u);
  const CollectiveRow& row = overview.distributed.collectives[0];
  EXPECT_EQ(row.operation, "AllReduce");
  EXPECT_EQ(row.message_bytes, 1'000'000u);
  EXPECT_EQ(row.ranks, 2u);
  EXPECT_EQ(row.times.calls, 40u);
  EXPECT_EQ(row.times.matched, 20u);
  EXPECT_EQ(row.times.kernel_ns, 20 * (400'000 + 100'000));
  EXPECT_EQ(row.times.waited_ns, 20 * 300'000);
  const ResultTable table = MakeCollectivesTable(overview);
  const auto number = [&](std::string_view key) {
    const auto at = std::find_if(table.columns.begin(), table.columns.end(),
                                 [&](const ResultColumn& column) { return column.key == key; });
    return std::get<double>(table.rows[0][size_t(at - table.columns.begin())]);
  };
  EXPECT_DOUBLE_EQ(number("algorithm_gbps"), 10);
  EXPECT_DOUBLE_EQ(number("bus_gbps"), 10);  // x 2 (2 - 1) / 2
}

TEST(CollectivesTest, TheStragglerIsTheRankThatDoesNotWait) {
  const Store store = testing::MakeTwoRanks(20);
  const RunOverview overview = BuildOverview(store);
  const Distributed& found = overview.distributed;
  ASSERT_EQ(found.ranks.size(), 2u);
  EXPECT_NEAR(found.ranks[0].waited_ns, 300'000, 1);
  EXPECT_EQ(found.ranks[1].waited_ns, 0);
  ASSERT_TRUE(found.straggler.has_value());
  EXPECT_EQ(found.straggler->rank, 1u);
  EXPECT_NEAR(found.straggler->waited_ns, 300'000, 1);
  EXPECT_NEAR(found.ranks[0].compute_ns, 498'000, 10);
  EXPECT_NEAR(found.ranks[0].exposed_communication_ns, 400'000, 10);
}

TEST(CollectivesTest, BinsAndStepsAddUpToTheRun) {
  const Store store = testing::MakeTwoRanks(20);
  const RunOverview overview = BuildOverview(store);
  const CollectiveRow& row = overview.distributed.collectives[0];
  ASSERT_EQ(row.bins.size(), overview.tree.bins.size() + 1);
  CollectiveTimes sum;
  for (size_t bin = 0; bin < row.bins.size(); ++bin) {
    const uint64_t calls = bin < overview.tree.bins.size() ? overview.tree.bins[bin].steps : 0;
    EXPECT_EQ(row.bins[bin].calls, calls);
    sum.calls += row.bins[bin].calls;
    sum.matched += row.bins[bin].matched;
    sum.kernel_ns += row.bins[bin].kernel_ns;
    sum.waited_ns += row.bins[bin].waited_ns;
    sum.shortest_ns += row.bins[bin].shortest_ns;
  }
  EXPECT_EQ(sum.calls, row.times.calls);
  EXPECT_EQ(sum.matched, row.times.matched);
  EXPECT_EQ(sum.kernel_ns, row.times.kernel_ns);
  EXPECT_EQ(sum.waited_ns, row.times.waited_ns);
  EXPECT_EQ(sum.shortest_ns, row.times.shortest_ns);
  EXPECT_EQ(overview.distributed.ranks[0].waited_in_step, std::vector<int64_t>(20, 300'000));
  EXPECT_EQ(overview.distributed.ranks[1].waited_in_step, std::vector<int64_t>(20, 0));
}

TEST(CollectivesTest, BusFactorsAreThoseOfNcclTests) {
  CollectiveRow row{.ranks = 4, .message_bytes = 1000};
  row.operation = "AllReduce";
  EXPECT_DOUBLE_EQ(row.bus_factor(), 1.5);
  EXPECT_DOUBLE_EQ(row.size_bytes(), 1000);
  row.operation = "AllGather";  // 4 x the message
  EXPECT_DOUBLE_EQ(row.size_bytes(), 4000);
  EXPECT_DOUBLE_EQ(row.bus_factor(), 0.75);
  row.operation = "Broadcast";
  EXPECT_DOUBLE_EQ(row.bus_factor(), 1);
}

}  // namespace
}  // namespace batchlight
