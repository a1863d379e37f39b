#include "analysis/launch_queue.h"

#include <gtest/gtest.h>

#include "analysis/run_overview.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

// Ten steps of 1000 ns: calls at 100 and 200, the GPU starts their work at 400 and 600.
Store MakeStore() {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int step = 0; step < 10; ++step) {
    const int64_t at = step * 1000;
    build.Range(main, "step " + std::to_string(step), at, at + 1000);
    build.Kernel(main, "a", at + 100, at + 400, at + 600);
    build.Kernel(main, "b", at + 200, at + 600, at + 700);
  }
  return build.Build();
}

TEST(LaunchQueueTest, DepthAndLatencyAreThoseOfTheLaunches) {
  const Store store = MakeStore();
  const RunOverview overview = BuildOverview(store);
  ASSERT_EQ(overview.queues.size(), 1u);
  const LaunchQueue& queue = overview.queues[0];
  ASSERT_EQ(queue.steps.size(), 10u);
  EXPECT_EQ(queue.steps[3].launches, 2u);
  EXPECT_EQ(queue.steps[3].median_latency_ns, 300);
  EXPECT_EQ(queue.latency.max, 400);
  EXPECT_EQ(queue.most, 2u);
  // One is queued in 100 to 200 and 400 to 600, two in 200 to 400.
  EXPECT_NEAR(queue.mean_depth, 0.1 + 0.4 + 0.2, 1e-9);
  EXPECT_NEAR(queue.empty, 0.5, 1e-9);
}

TEST(LaunchQueueTest, TheCurveIsThatOfOneStep) {
  const Store store = MakeStore();
  const RunOverview overview = BuildOverview(store);
  const LaunchQueue& queue = overview.queues[0];
  const int64_t at = overview.steps.Main()->steps[queue.shown_step].start_ns;
  const std::vector<std::pair<int64_t, uint32_t>> expected = {{0, 0},   {100, 1}, {200, 2},
                                                              {400, 1}, {600, 0}, {1000, 0}};
  ASSERT_EQ(queue.curve.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(queue.curve[i].time_ns - at, expected[i].first);
    EXPECT_EQ(queue.curve[i].depth, expected[i].second);
  }
  const auto thin = AnalyzeLaunchQueues(store, overview.steps, 3);
  EXPECT_LE(thin[0].curve.size(), 4u);
}

TEST(LaunchQueueTest, NoStepsNoQueue) {
  testing::StoreBuilder build;
  build.Kernel(build.Thread(build.Process(7, "train.py")), "a", 1, 2, 3);
  const Store store = build.Build();
  EXPECT_TRUE(AnalyzeLaunchQueues(store, {}).empty());
}

}  // namespace
}  // namespace batchlight
