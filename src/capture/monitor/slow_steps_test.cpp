#include "capture/monitor/slow_steps.h"

#include <gtest/gtest.h>

namespace batchlight::capture {
namespace {

constexpr int64_t kMs = 1'000'000;

ProcessSteps Job(size_t normal, size_t slow) {
  ProcessSteps job;
  job.recent_ns.assign(normal, 100 * kMs);
  job.recent_ns.insert(job.recent_ns.end(), slow, 140 * kMs);
  job.step = normal + slow;
  return job;
}

TEST(SlowStepsTest, ThreeOnEndAskForAWindowThatAllHearOf) {
  SlowSteps slow(1.3);
  EXPECT_FALSE(slow.Look(Job(100, 0), 0));
  EXPECT_FALSE(slow.Look(Job(100, 2), 0));
  const auto request = slow.Look(Job(100, 3), 0);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->first, 103 + 3000 / 100 + 2u);
  EXPECT_EQ(request->count, 5u);
}

TEST(SlowStepsTest, OnceAnHour) {
  SlowSteps slow(1.3);
  EXPECT_TRUE(slow.Look(Job(100, 3), 0));
  EXPECT_FALSE(slow.Look(Job(100, 3), SlowSteps::kPauseNs - 1));
  EXPECT_TRUE(slow.Look(Job(100, 3), SlowSteps::kPauseNs));
}

TEST(SlowStepsTest, NotWithoutBeingAskedNorWithTooFewSteps) {
  EXPECT_FALSE(SlowSteps(0).Look(Job(100, 3), 0));
  EXPECT_FALSE(SlowSteps(1.5).Look(Job(100, 3), 0));
  EXPECT_FALSE(SlowSteps(1.3).Look(Job(40, 3), 0));
}

}  // namespace
}  // namespace batchlight::capture
