#include "capture/loop/look_pace.h"

#include <gtest/gtest.h>

namespace batchlight::capture {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(LookPace, LooksThatCostTheSameWaitForTheirShare) {
  LookPace pace(25);
  int64_t waited_ns = 0;
  for (int look = 0; look < 1000; ++look) waited_ns += pace.LeastWaitNs(kMs);
  EXPECT_NEAR(static_cast<double>(waited_ns), 25'000.0 * kMs, 250.0 * kMs);
}

TEST(LookPace, OneLongLookIsNoHole) {
  LookPace pace(25);
  int64_t waited_ns = pace.LeastWaitNs(40 * kMs);
  EXPECT_LE(waited_ns, 125 * kMs);
  for (int look = 0; look < 100; ++look) waited_ns += pace.LeastWaitNs(0);
  EXPECT_NEAR(static_cast<double>(waited_ns), 1000.0 * kMs, kMs);
}

}  // namespace
}  // namespace batchlight::capture
