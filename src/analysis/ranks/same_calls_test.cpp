#include "analysis/ranks/same_calls.h"

#include <gtest/gtest.h>

#include "analysis/ranks/nccl_kernels.h"
#include "analysis/testing/two_ranks.h"

namespace batchlight {
namespace {

TEST(SameCalls, AreOfTheSameStepAndByRank) {
  const Store store = testing::MakeTwoRanks(12);
  const NcclCalls nccl = FindNcclCalls(store);
  const auto same = FindSameCalls(store, nccl);
  ASSERT_EQ(same.size(), 12u);
  for (const std::vector<uint32_t>& call : same) {
    ASSERT_EQ(call.size(), 2u);
    EXPECT_EQ(nccl.calls[call[0]].process, ProcessId::At(0));
    EXPECT_EQ(nccl.calls[call[1]].process, ProcessId::At(1));
    const auto start_ns = [&](uint32_t row) {
      return store.nvtx_ranges.start_ns[nccl.calls[row].range];
    };
    EXPECT_EQ(start_ns(call[0]), start_ns(call[1]));  // both call at once, one waits
  }
}

// The first call of one rank was not recorded: the others still fit.
TEST(SameCalls, GoOnWhereARankBeganLater) {
  Store store = testing::MakeTwoRanks(12);
  for (size_t row = 0; row < store.nvtx_ranges.size(); ++row) {
    if (store.Text(store.nvtx_ranges.message[row]) != "ncclAllReduce") continue;
    if (store.ProcessOf(store.nvtx_ranges.thread[row]) != ProcessId::At(1)) continue;
    store.nvtx_ranges.message[row] = store.strings.Intern("something else");
    break;
  }
  const NcclCalls nccl = FindNcclCalls(store);
  const auto same = FindSameCalls(store, nccl);
  ASSERT_EQ(same.size(), 11u);
  for (const std::vector<uint32_t>& call : same) {
    EXPECT_EQ(store.nvtx_ranges.start_ns[nccl.calls[call[0]].range],
              store.nvtx_ranges.start_ns[nccl.calls[call[1]].range]);
  }
}

TEST(SameCalls, AreNoneWithoutNccl) {
  const Store store;
  EXPECT_TRUE(FindSameCalls(store, FindNcclCalls(store)).empty());
}

TEST(NcclKernels, BelongToTheCallAroundTheirLaunch) {
  const Store store = testing::MakeTwoRanks(3);
  const NcclCalls nccl = FindNcclCalls(store);
  const std::vector<NcclKernel> kernels = FindNcclKernels(store, nccl);
  ASSERT_EQ(kernels.size(), 6u);
  for (const NcclKernel& one : kernels) {
    ASSERT_NE(one.call, NcclCalls::kNone);
    EXPECT_EQ(nccl.calls[one.call].process, store.kernels.process[one.kernel]);
    EXPECT_LT(store.nvtx_ranges.start_ns[nccl.calls[one.call].range],
              store.kernels.start_ns[one.kernel]);
  }
}

}  // namespace
}  // namespace batchlight
