#include "analysis/advice/gpu/wait_loops.h"

#include <gtest/gtest.h>

namespace batchlight::advice {
namespace {

constexpr int64_t kUs = 1000;

// `count` waits of 10 us from then on, each so long after the end of the one before.
void AddWaits(std::vector<TimeSpan>& waits, int64_t at_us, int count, int64_t apart_us) {
  for (int i = 0; i < count; ++i, at_us += 10 + apart_us) {
    waits.push_back({at_us * kUs, (at_us + 10) * kUs});
  }
}

TEST(WaitLoops, AreWaitsThatFollowEachOther) {
  std::vector<TimeSpan> waits;
  AddWaits(waits, 0, 100, 40);
  AddWaits(waits, 100'000, 100, 40);
  const WaitLoops loops = FindWaitLoops(waits);
  ASSERT_EQ(loops.spans.size(), 2u);
  EXPECT_EQ(loops.waits, 200u);
  EXPECT_EQ(loops.waited_ns, 2000 * kUs);
  EXPECT_EQ(loops.total_ns, 2 * (99 * 50 + 10) * kUs);
}

TEST(WaitLoops, AreNotAFewWaitsOrWaitsFarApart) {
  std::vector<TimeSpan> waits;
  AddWaits(waits, 0, 5, 40);
  AddWaits(waits, 100'000, 100, 5'000);
  EXPECT_TRUE(FindWaitLoops(waits).spans.empty());
  EXPECT_TRUE(FindWaitLoops({}).spans.empty());
}

}  // namespace
}  // namespace batchlight::advice
