#include "analysis/partial/exchanges.h"

#include <gtest/gtest.h>

#include "analysis/partial/job_result.h"
#include "analysis/partial/partial_bytes.h"
#include "analysis/testing/nccl_store.h"

namespace batchlight {
namespace {

using testing::NcclStore;
using testing::NcclStoreCall;

constexpr uint64_t kExperts = 77;
constexpr int32_t kRanks = 4;
constexpr uint64_t kToken = 1000;

// Tokens go to the experts and come back: all ranks have as many, rank 2 has an expert that takes
// `wanted` times as many as each other one. What it computes with them takes it that much longer.
Store Mixture(uint64_t wanted) {
  NcclStore build;
  const uint64_t all = kRanks - 1 + wanted;
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    const ThreadId thread = build.Rank(rank, kExperts, kRanks);
    for (int step = 0; step < 30; ++step) {
      std::vector<NcclStoreCall> there, back;
      for (int32_t peer = 0; peer < kRanks; ++peer) {
        const uint64_t to = peer == 2 ? wanted : 1, own = rank == 2 ? wanted : 1;
        there.push_back({"Send", kExperts, to * kToken, peer});
        there.push_back({"Recv", kExperts, own * kToken, peer});
        back.push_back({"Send", kExperts, own * kToken, peer});
        back.push_back({"Recv", kExperts, to * kToken, peer});
      }
      const auto share = [&](int32_t of) {
        return static_cast<int64_t>((of == 2 ? wanted : 1) * 4'000'000 / all);
      };
      build.Group(thread, there, 50'000);
      // Who computes shorter waits in the second.
      build.Group(thread, back, 50'000 + share(2) - share(rank), share(rank));
      build.Step(thread);
    }
  }
  return build.Build();
}

JobResult Compared(uint64_t wanted) {
  const auto part = DecodeJobPart(EncodeJobPart(MakeJobPart("moe", Mixture(wanted))));
  EXPECT_TRUE(part.has_value());
  Result<JobResult> job = CompareRanks({*part}, JobClock::kNone);
  EXPECT_TRUE(job.ok()) << job.status().message();
  return std::move(job.value());
}

TEST(Exchanges, TheRankWhoseExpertIsWantedIsNamed) {
  const JobResult job = Compared(5);
  ASSERT_EQ(job.exchanges.size(), 1u);
  const ExchangeTotal& found = job.exchanges[0];
  EXPECT_EQ(found.ranks, 4u);
  EXPECT_EQ(found.calls, 60u);
  EXPECT_DOUBLE_EQ(found.mean_bytes, 8.0 * kToken);
  EXPECT_DOUBLE_EQ(found.imbalance, 20.0 / 8);  // it gets 5 parts of each of 4 ranks
  EXPECT_EQ(job.ranks[found.busiest].rank, 2);
  EXPECT_DOUBLE_EQ(found.busiest_times, 20.0 / 8);
  ASSERT_TRUE(job.straggler) << "the others wait in the exchange behind its experts";
  EXPECT_EQ(job.ranks[job.straggler->row].rank, 2);
}

TEST(Exchanges, OfEvenLoadsNobodyIsBlamed) {
  const JobResult job = Compared(1);
  ASSERT_EQ(job.exchanges.size(), 1u);
  EXPECT_DOUBLE_EQ(job.exchanges[0].imbalance, 1);
  EXPECT_FALSE(job.straggler);
}

}  // namespace
}  // namespace batchlight
