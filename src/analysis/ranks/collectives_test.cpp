#include "analysis/ranks/collectives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "analysis/overview/run_overview.h"
#include "analysis/tables/overview_tables.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr uint64_t kSchema = 5;

// Two ranks; in each of 20 steps an all-reduce of 1 MB, for which rank 0 waits 300 us.
class TwoRanks {
 public:
  TwoRanks() {
    Store& store = build_.store();
    for (uint32_t rank = 0; rank < 2; ++rank) {
      const ProcessId process = build_.Process(100 + rank, "ddp.py", int32_t(rank));
      threads_[rank] = build_.Thread(process);
      store.nvtx_domains.Append({.process = process, .name = build_.Text("NCCL"), .native_id = 1});
      store.nvtx_payload_schemas.Append({.process = process,
                                         .domain = NvtxDomainId{rank},
                                         .schema_id = kSchema,
                                         .payload_bytes = 16,
                                         .entry_begin = rank * 2,
                                         .entry_count = 2});
      store.nvtx_payload_entries.Append({.name = build_.Text("NCCL communicator ID")});
      store.nvtx_payload_entries.Append({.name = build_.Text("Message size [bytes]"), .offset = 8});
    }
  }

  Store Build(int steps) {
    for (int step = 0; step < steps; ++step) {
      const int64_t at = step * 2'000'000;
      for (uint32_t rank = 0; rank < 2; ++rank) {
        const int64_t waits = rank == 0 ? 300'000 : 0;
        build_.Range(threads_[rank], "step " + std::to_string(step), at, at + 1'900'000);
        build_.Kernel(threads_[rank], "gemm", at + 1000, at + 2000, at + 500'000);
        AllReduce(rank, at + 600'000, 1'000'000);
        const int64_t start = at + 1'000'000 - waits;
        build_.Kernel(threads_[rank], "ncclDevKernel_AllReduce_Sum_f32", at + 600'010, start,
                      at + 1'100'000);
      }
    }
    Store store = build_.Build();
    for (size_t row = 0; row < store.nvtx_ranges.size(); ++row) {
      if (store.Text(store.nvtx_ranges.message[row]) != "ncclAllReduce") continue;
      const ProcessId process = store.ProcessOf(store.nvtx_ranges.thread[row]);
      store.nvtx_ranges.domain[row] = NvtxDomainId{process.value};
      store.nvtx_ranges.attributes[row] = NvtxAttributesId{0};
    }
    for (size_t row = 0; row < store.kernels.size(); ++row) {
      store.kernels.short_name[row] = store.kernels.demangled_name[row];
    }
    return store;
  }

 private:
  void AllReduce(uint32_t rank, int64_t at, uint64_t bytes) {
    build_.Range(threads_[rank], "ncclAllReduce", at, at + 1000);
    Store& store = build_.store();
    if (store.nvtx_attributes.size() > 0) return;
    std::string blob(16, '\0');
    const uint64_t communicator = 77;
    std::memcpy(blob.data(), &communicator, 8);
    std::memcpy(blob.data() + 8, &bytes, 8);
    store.nvtx_attributes.Append({.blob_begin = 0, .blob_count = 1});
    store.nvtx_payload_blobs.Append(
        {.schema_id = kSchema, .bytes = build_.Text(blob), .full_byte_count = 16});
  }

  testing::StoreBuilder build_;
  ThreadId threads_[2];
};

TEST(CollectivesTest, BandwidthIsThatOfTheShortestKernelAndTheRestIsWaiting) {
  const Store store = TwoRanks().Build(20);
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
  const Store store = TwoRanks().Build(20);
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
  const Store store = TwoRanks().Build(20);
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
