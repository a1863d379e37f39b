// Communication that nothing hides: of sums, of FSDP, of pipelines; and whose wait it is.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analysis/testing/findings.h"
#include "analysis/testing/nccl_ranks.h"
#include "analysis/testing/nccl_store.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::NcclRanks;
using testing::StoreBuilder;

// Steps of 10 ms, of which the GPU computes for 6 and runs `kernel` alone for nearly 4.
std::vector<Finding> FindingsOfKernel(std::string_view kernel) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t t = 0; t < 200 * kMs; t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Kernel(thread, "nvjet_hsh_128", t + 10'000, t + 30'000, t + 6 * kMs);
    build.Kernel(thread, kernel, t + 20'000, t + 6 * kMs, t + 10 * kMs - 10'000, 20);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(CommunicationRules, SendingAndReceivingAloneIsABubble) {
  const auto findings = FindingsOfKernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096>)");
  const Finding* found = FindRule(findings, "pipeline-bubble");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Stages of the pipeline wait for each other");
  EXPECT_NEAR(found->gain_ns, 0.5 * 4 * kMs, 0.1 * kMs);
  ASSERT_EQ(found->evidence.size(), 1u);
  EXPECT_NE(found->evidence[0].name.find("SendRecv"), std::string::npos);
  EXPECT_EQ(FindRule(findings, "exposed-communication"), nullptr) << "it is told once";
}

// A pipeline with gloo: a step of 10 ms sends for 1 and waits for 4 behind its receive.
TEST(CommunicationRules, ABubbleOnTheCpuIsBehindTheReceive) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t t = 0; t < 200 * kMs; t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Operator(thread, "aten::mm", t, t + 2 * kMs);
    build.Operator(thread, "c10d::send", t + 2 * kMs, t + 3 * kMs);
    build.Operator(thread, "c10d::recv_", t + 3 * kMs, t + 3 * kMs + 10'000);
    build.Operator(thread, "aten::mm", t + 7 * kMs, t + 10 * kMs - 2000);
  }
  const Store store = build.Build();
  const auto findings = BuildOverview(store).findings;
  const Finding* found = FindRule(findings, "pipeline-bubble");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.5 * 5 * kMs, 0.1 * kMs);
}

TEST(CommunicationRules, SumsAreNoBubble) {
  const auto findings = FindingsOfKernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  EXPECT_EQ(FindRule(findings, "pipeline-bubble"), nullptr);
  const Finding* found = FindRule(findings, "exposed-communication");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.6 * 4 * kMs, 0.1 * kMs);
  EXPECT_NE(found->action.find("bucket_cap_mb"), std::string::npos) << found->action;
  EXPECT_NE(found->patch.diff.find("+model = DistributedDataParallel(model, bucket_cap_mb="),
            std::string::npos)
      << found->patch.diff;
  EXPECT_EQ(found->action.find("FSDP"), std::string::npos) << found->action;
}

TEST(CommunicationRules, FsdpIsToldWhatHidesItsCollectives) {
  for (const char* kernel : {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096>)",
                             "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"}) {
    const auto findings = FindingsOfKernel(kernel);
    const Finding* found = FindRule(findings, "exposed-communication");
    ASSERT_NE(found, nullptr) << kernel;
    EXPECT_NE(found->action.find("backward_prefetch"), std::string::npos) << found->action;
    EXPECT_NE(found->patch.diff.find("forward_prefetch=True"), std::string::npos)
        << found->patch.diff;
    EXPECT_EQ(found->patch.diff.find("DistributedDataParallel"), std::string::npos);
  }
}

TEST(CommunicationRules, ExpertsHaveNoLineToPaste) {
  const auto findings = FindingsOfKernel("ncclDevKernel_AllToAll_RING_LL");
  const Finding* found = FindRule(findings, "exposed-communication");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->action.find("Experts"), std::string::npos) << found->action;
  EXPECT_TRUE(found->patch.empty());
}

// As PyTorch makes all_to_all: a Send and a Recv for each rank, in one kernel of that name.
TEST(CommunicationRules, ExchangesOfTokensAreNoBubble) {
  testing::NcclStore build;
  const ThreadId thread = build.Rank(0, 77, 2);
  for (int step = 0; step < 20; ++step) {
    build.Compute(thread, 6 * kMs);
    build.Group(thread, {{"Send", 77, 8, 0}, {"Recv", 77, 8, 0}, {"Send", 77, 8, 1}}, 4 * kMs);
    build.Step(thread);
  }
  const Store store = build.Build();
  const auto findings = BuildOverview(store).findings;
  EXPECT_EQ(FindRule(findings, "pipeline-bubble"), nullptr);
  const Finding* found = FindRule(findings, "exposed-communication");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->action.find("Experts"), std::string::npos) << found->action;
}

// Two ranks of steps of 10 ms that sum up alone on the GPU: rank 1 comes `late_ns` later, and then
// the sum takes `sum_ns`.
std::vector<Finding> FindingsOfLateRank(int64_t late_ns, int64_t sum_ns) {
  NcclRanks job(2);
  for (int64_t step = 0; step < 40; ++step) {
    const int64_t t = step * 10 * kMs;
    for (size_t rank = 0; rank < 2; ++rank) {
      const int64_t own_ns = rank == 1 ? late_ns : 0;
      job.build().Range(job.thread(rank), "step " + std::to_string(step), t, t + 10 * kMs - 1000);
      if (own_ns > 0) {
        job.build().Range(job.thread(rank), "augment", t + 1000, t + 1000 + own_ns);
      }
      const int64_t at = t + 10'000 + own_ns;
      job.build().Kernel(job.thread(rank), "nvjet_hsh_128", at, at + 5'000, at + 3 * kMs);
      job.AllReduce(rank, at + 10'000, at + 3 * kMs, t + 10'000 + late_ns + 3 * kMs + sum_ns);
    }
  }
  const Store store = job.Build();
  return BuildOverview(store).findings;
}

// Rank 0, which is told about, is alone with NCCL for late + sum: of that the wait is the
// straggler's, and only the rest can be hidden.
TEST(CommunicationRules, AWaitForASlowerRankIsNoneOfIt) {
  const auto findings = FindingsOfLateRank(3 * kMs, 2 * kMs);
  const Finding* found = FindRule(findings, "exposed-communication");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.6 * 2 * kMs, 0.05 * kMs);
  EXPECT_NE(found->seen.find("5.00 ms of a step (50 %), of which it waits 3.00 ms for other ranks"),
            std::string::npos)
      << found->seen;
  EXPECT_NE(FindRule(findings, "straggler"), nullptr);

  const auto waiting = FindingsOfLateRank(5 * kMs, 100'000);
  EXPECT_EQ(FindRule(waiting, "exposed-communication"), nullptr) << "hiding it gains nothing";
  EXPECT_NE(FindRule(waiting, "straggler"), nullptr);

  const auto alike = FindingsOfLateRank(0, 5 * kMs);
  found = FindRule(alike, "exposed-communication");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.6 * 5 * kMs, 0.05 * kMs);
  EXPECT_EQ(found->seen.find("it waits"), std::string::npos) << found->seen;
  EXPECT_EQ(FindRule(alike, "straggler"), nullptr);
}

TEST(CommunicationRules, TheStragglersTitleHasThePhase) {
  const auto findings = FindingsOfLateRank(3 * kMs, 2 * kMs);
  const Finding* found = FindRule(findings, "straggler");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Rank 1 makes the others wait in `augment`");
  EXPECT_NE(found->seen.find(
                "The other rank waits 3.00 ms of a step (30 %) for it. It takes 3.00 ms longer in "
                "`augment` than any other rank, in all 40 steps."),
            std::string::npos)
      << found->seen;
}

}  // namespace
}  // namespace batchlight
