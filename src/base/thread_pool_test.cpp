#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace batchlight {
namespace {

TEST(ParallelFor, RunsEachIndexOnce) {
  std::vector<std::atomic<int>> seen(1000);
  ParallelFor(seen.size(), [&](size_t i) { ++seen[i]; });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, NestsOnTheCaller) {
  std::atomic<int> total{0};
  ParallelFor(8, [&](size_t) { ParallelFor(8, [&](size_t) { ++total; }); });
  EXPECT_EQ(total, 64);
}

TEST(ParallelFor, ZeroIsFine) {
  ParallelFor(0, [](size_t) { FAIL(); });
}

}  // namespace
}  // namespace batchlight
