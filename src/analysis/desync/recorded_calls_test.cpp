#include "analysis/desync/recorded_calls.h"

#include <gtest/gtest.h>

#include "analysis/desync/desync.h"
#include "analysis/testing/nccl_ranks.h"

namespace batchlight {
namespace {

using testing::NcclRanks;

// Three ranks make `calls[rank]` all-reduces, of which the first `ended` have kernels.
Store Job(const std::vector<int>& calls, int ended) {
  NcclRanks job(calls.size());
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    for (int call = 0; call < calls[rank]; ++call) {
      const int64_t at = call * 10'000 + int64_t(rank);
      if (call < ended)
        job.AllReduce(rank, at, at + 2000, at + 3000);
      else
        job.build().Range(job.thread(rank), "ncclAllReduce", at, at + 1000);
    }
  }
  return job.Build();
}

TEST(RecordedCalls, ARankThatHasNotComeIsFound) {
  const Store store = Job({5, 4, 5}, 4);
  const std::vector<FlightDump> dumps = LastRecordedCalls(store).dumps;
  ASSERT_EQ(dumps.size(), 3u);
  EXPECT_EQ(dumps[0].calls.size(), 1u) << "what ended on all ranks is over";
  EXPECT_TRUE(dumps[1].calls.empty());
  const DesyncResult result = FindDesync(dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].kind, DesyncKind::kMissing);
  EXPECT_EQ(result.found[0].number, 5u);
  EXPECT_EQ(result.found[0].call, "AllReduce of 1,000,000 bytes");
  EXPECT_EQ(result.found[0].group, "4d");
  EXPECT_EQ(result.found[0].others, (std::vector<int32_t>{1}));
  EXPECT_EQ(result.found[0].waiting, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(result.found[0].since_ns, 40'000);
}

TEST(RecordedCalls, AKernelEndsTheCallsBefore) {
  NcclRanks job(2);
  for (size_t rank = 0; rank < 2; ++rank) {
    job.build().Range(job.thread(rank), "ncclAllReduce", 0, 1000);  // one group with the next
    job.AllReduce(rank, 2000, 4000, 5000);
  }
  const std::vector<FlightDump> dumps = LastRecordedCalls(job.Build()).dumps;
  ASSERT_EQ(dumps.size(), 2u);
  EXPECT_TRUE(FindDesync(dumps).found.empty());
}

// NCCL's watchdog breaks the kernel off after a while.
TEST(RecordedCalls, AKernelThatOthersDidNotComeToEndsNothing) {
  const Store store = Job({5, 4, 5}, 5);
  const DesyncResult result = FindDesync(LastRecordedCalls(store).dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].others, (std::vector<int32_t>{1}));
  EXPECT_EQ(result.found[0].waiting, (std::vector<int32_t>{0, 2}));
}

// Of a rank that waits in a kernel CUPTI has not told of those before it.
TEST(RecordedCalls, ARankWhoseLastKernelsAreNotKnownWaitsForWhoHasNotCome) {
  NcclRanks job(2);
  for (int call = 0; call < 6; ++call) {
    const int64_t at = call * 10'000;
    for (size_t rank = 0; rank < 2; ++rank) {
      if (rank == 1 && call == 5) continue;
      if (rank == 1 || call < 2)
        job.AllReduce(rank, at, at + 2000, at + 3000);
      else
        job.build().Range(job.thread(rank), "ncclAllReduce", at, at + 1000);
    }
  }
  const DesyncResult result = FindDesync(LastRecordedCalls(job.Build()).dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].kind, DesyncKind::kMissing);
  EXPECT_EQ(result.found[0].number, 6u);
  EXPECT_EQ(result.found[0].others, (std::vector<int32_t>{1}));
  EXPECT_EQ(result.found[0].waiting, (std::vector<int32_t>{0}));
}

// The kernel of one that waits for a call which the other makes otherwise is broken off, and ends
// so.
TEST(RecordedCalls, CallsThatDifferEndForNobody) {
  NcclRanks job(2);
  for (size_t rank = 0; rank < 2; ++rank) job.AllReduce(rank, 0, 2000, 3000);
  job.AllReduce(0, 10'000, 12'000, 13'000);
  job.build().Range(job.thread(1), "ncclBroadcast", 10'000, 11'000);
  const DesyncResult result = FindDesync(LastRecordedCalls(job.Build()).dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].kind, DesyncKind::kDiffers);
  EXPECT_EQ(result.found[0].number, 2u);
}

// A rank that is ended by a signal while its kernel waits leaves no kernels behind.
TEST(RecordedCalls, ARankWithoutKernelsWaitsForWhoHasNotCome) {
  for (const int calls : {3, 2}) {
    NcclRanks job(2);
    for (int call = 0; call < 2; ++call) {
      job.AllReduce(1, call * 10'000, call * 10'000 + 2000, call * 10'000 + 3000);
    }
    for (int call = 0; call < calls; ++call) {
      job.build().Range(job.thread(0), "ncclAllReduce", call * 10'000, call * 10'000 + 1000);
    }
    const DesyncResult result = FindDesync(LastRecordedCalls(job.Build()).dumps);
    if (calls == 2) {
      EXPECT_TRUE(result.found.empty()) << "all have come to each";
      continue;
    }
    ASSERT_EQ(result.found.size(), 1u);
    EXPECT_EQ(result.found[0].kind, DesyncKind::kMissing);
    EXPECT_EQ(result.found[0].waiting, (std::vector<int32_t>{0}));
    EXPECT_EQ(result.found[0].others, (std::vector<int32_t>{1}));
  }
}

TEST(RecordedCalls, ARankWithoutKernelsWaitsInWhatAllWaitIn) {
  NcclRanks job(2);
  for (int call = 0; call < 3; ++call) {
    const int64_t at = call * 10'000;
    if (call < 2)
      job.AllReduce(1, at, at + 2000, at + 3000);
    else
      job.build().Range(job.thread(1), "ncclAllReduce", at, at + 1000);
    job.build().Range(job.thread(0), "ncclAllReduce", at, at + 1000);
  }
  const DesyncResult result = FindDesync(LastRecordedCalls(job.Build()).dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].kind, DesyncKind::kUnfinished);
  EXPECT_EQ(result.found[0].waiting, (std::vector<int32_t>{0, 1}));
}

// A step that is captured into a CUDA graph, and replayed: its calls have no kernel of their own.
TEST(RecordedCalls, AProcessThatWorksOnWaitsForNobody) {
  NcclRanks job(2);
  for (size_t rank = 0; rank < 2; ++rank) {
    job.AllReduce(rank, 0, 4000, 5000);
    job.build().Range(job.thread(rank), "ncclAllReduce", 10'000, 11'000);
    job.build().Kernel(job.thread(rank), "gemm", 9'000'000'000, 9'000'001'000, 9'000'002'000);
  }
  EXPECT_TRUE(FindDesync(LastRecordedCalls(job.Build()).dumps).found.empty());
}

TEST(RecordedCalls, NothingIsToldOfWindowsOrWithoutKernels) {
  Store store = Job({5, 4, 5}, 4);
  store.duration_ns = 5'000'000'000;
  store.capture_windows.Append({.start_ns = 0, .end_ns = store.duration_ns});
  EXPECT_FALSE(LastRecordedCalls(store).dumps.empty()) << "all of the run";
  store.capture_windows.end_ns[0] = 50'000;
  EXPECT_TRUE(LastRecordedCalls(store).dumps.empty());
  EXPECT_TRUE(LastRecordedCalls(Job({5, 4}, 0)).dumps.empty());
  EXPECT_TRUE(LastRecordedCalls(Job({5}, 4)).dumps.empty()) << "one rank";
}

}  // namespace
}  // namespace batchlight
