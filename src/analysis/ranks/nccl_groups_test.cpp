#include "analysis/ranks/nccl_groups.h"

#include <gtest/gtest.h>

#include "analysis/ranks/nccl_kernels.h"
#include "analysis/testing/nccl_store.h"

namespace batchlight {
namespace {

using testing::NcclStore;

constexpr uint64_t kGroup = 77;

TEST(NcclGroups, SendsOfAllWithAllAreOneAllToAll) {
  NcclStore build;
  const ThreadId thread = build.Rank(1, kGroup, 4);
  build.Group(thread, {{"Send", kGroup, 100, 0},
                       {"Recv", kGroup, 300, 0},
                       {"Send", kGroup, 10, 1},
                       {"Recv", kGroup, 10, 1},
                       {"Send", kGroup, 200, 3}});
  const Store store = build.Build();
  const NcclCalls nccl = FindNcclCalls(store);
  ASSERT_EQ(nccl.calls.size(), 1u);
  EXPECT_EQ(nccl.calls[0].operation, "AlltoAll");
  EXPECT_EQ(nccl.calls[0].communicator, kGroup);
  EXPECT_EQ(nccl.calls[0].sent_bytes, 310u);
  EXPECT_EQ(nccl.calls[0].received_bytes, 310u);
  const std::vector<NcclKernel> kernels = FindNcclKernels(store, nccl);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].call, 0u) << "the end of the group launches it";
}

TEST(NcclGroups, StagesOfAPipelineStayTwo) {
  NcclStore build;
  const ThreadId thread = build.Rank(1, kGroup, 4);
  build.Group(thread, {{"Send", kGroup, 100, 2}, {"Recv", kGroup, 100, 0}});
  const Store store = build.Build();
  const NcclCalls nccl = FindNcclCalls(store);
  ASSERT_EQ(nccl.calls.size(), 2u);
  EXPECT_EQ(nccl.calls[1].operation, "Recv");
  const std::vector<NcclKernel> kernels = FindNcclKernels(store, nccl);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].call, 1u);
}

TEST(NcclGroups, CoalescedCollectivesHaveTheirKernel) {
  NcclStore build;
  const ThreadId thread = build.Rank(0, kGroup, 4);
  build.Group(thread, {{"AllReduce", kGroup, 100, -1}, {"AllReduce", kGroup, 200, -1}});
  const Store store = build.Build();
  const NcclCalls nccl = FindNcclCalls(store);
  ASSERT_EQ(nccl.calls.size(), 2u);
  EXPECT_EQ(FindNcclKernels(store, nccl).at(0).call, 1u);
}

TEST(NcclGroups, OfSeveralCommunicatorsNothingIsFolded) {
  NcclStore build;
  const ThreadId thread = build.Rank(0, kGroup, 4);
  build.Group(thread, {{"Send", kGroup, 1, 1}, {"Recv", kGroup, 1, 2}, {"Send", 78, 1, 3}});
  EXPECT_EQ(FindNcclCalls(build.Build()).calls.size(), 3u);
}

}  // namespace
}  // namespace batchlight
