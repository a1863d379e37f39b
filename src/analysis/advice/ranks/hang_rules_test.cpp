// Collectives that do not end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/testing/findings.h"
#include "analysis/testing/nccl_ranks.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::NcclRanks;

constexpr int64_t kSecond = 1'000'000'000;

// Two ranks in steps of 100 ms; rank 1 leaves rank 0 alone in the 21st all-reduce, and works on for
// `waits_ns`. exit_code -1: they still run.
std::vector<Finding> FindingsOfJob(int64_t waits_ns, int32_t exit_code) {
  NcclRanks job(2);
  constexpr int64_t kStepNs = 100'000'000;
  for (int64_t step = 0; step <= 20; ++step) {
    for (size_t rank = 0; rank < 2; ++rank) {
      const int64_t at = step * kStepNs;
      job.build().Range(job.thread(rank), "step", at, at + kStepNs - 1000);
      if (step < 20)
        job.AllReduce(rank, at + 1000, at + 5000, at + 9000);
      else if (rank == 0)
        job.build().Range(job.thread(rank), "ncclAllReduce", at + 1000, at + 2000);
    }
  }
  const int64_t end = 20 * kStepNs + waits_ns;
  job.build().Range(job.thread(1), "save_checkpoint", 20 * kStepNs + kStepNs / 2, end);
  Store store = job.Build();
  for (size_t row = 0; row < store.processes.size(); ++row) {
    store.processes.exit_code[row] = exit_code;
  }
  return BuildOverview(store).findings;
}

TEST(HangRules, TheRankThatDoesNotComeIsNamed) {
  const auto findings = FindingsOfJob(40 * kSecond, -1);
  const Finding* found = FindRule(findings, "collective-hang");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Rank 1 does not come to a collective that the others wait in");
  EXPECT_EQ(found->seen,
            "Rank 1 has not come to call 21 of group 4d, AllReduce of 1,000,000 bytes: rank 0 "
            "waits there. They have waited for 40.0 s. Rank 1 is in `save_checkpoint`, since "
            "40.0 s.");
  EXPECT_NEAR(found->run_gain_ns, 40.0 * kSecond, 0.1 * kSecond);
  EXPECT_EQ(&findings.front(), found);
}

TEST(HangRules, SilentWhereRanksAreOnlyAShortWhileApart) {
  EXPECT_EQ(FindRule(FindingsOfJob(kSecond, -1), "collective-hang"), nullptr);
}

TEST(HangRules, SilentWhereTheJobCameToItsEnd) {
  EXPECT_EQ(FindRule(FindingsOfJob(40 * kSecond, 0), "collective-hang"), nullptr);
}

}  // namespace
}  // namespace batchlight
