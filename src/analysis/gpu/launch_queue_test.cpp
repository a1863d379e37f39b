#include "analysis/gpu/launch_queue.h"

#include <gtest/gtest.h>

#include "analysis/overview/run_overview.h"
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
  const QueueCurve& curve = overview.queues[0].curve;
  EXPECT_FALSE(curve.means);
  const int64_t at = overview.steps.Main()->steps[curve.step].start_ns;
  const std::vector<std::pair<int64_t, double>> expected = {{0, 0},   {100, 1}, {200, 2},
                                                            {400, 1}, {600, 0}, {1000, 0}};
  ASSERT_EQ(curve.points.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(curve.points[i].time_ns - at, expected[i].first);
    EXPECT_EQ(curve.points[i].depth, expected[i].second);
  }
}

TEST(LaunchQueueTest, ACurveOfTooManyPointsHasMeansOverEqualParts) {
  const Store store = MakeStore();
  const QueueCurve curve = AnalyzeLaunchQueues(store, BuildOverview(store).steps, 4)[0].curve;
  EXPECT_TRUE(curve.means);
  ASSERT_EQ(curve.points.size(), 5u);
  EXPECT_EQ(curve.points[1].time_ns - curve.points[0].time_ns, 250);
  EXPECT_DOUBLE_EQ(curve.points[0].depth, (100.0 + 2 * 50) / 250);
  EXPECT_DOUBLE_EQ(curve.points[1].depth, (2 * 150.0 + 100) / 250);
  EXPECT_DOUBLE_EQ(curve.points[2].depth, 100.0 / 250);
  EXPECT_EQ(curve.points[3].depth, 0);
  EXPECT_EQ(curve.points[4].time_ns - curve.points[0].time_ns, 1000);
}

TEST(LaunchQueueTest, BinsHaveTheLatenciesOfTheirSteps) {
  const Store store = MakeStore();
  const RunOverview overview = BuildOverview(store);
  const LaunchQueue& queue = overview.queues[0];
  ASSERT_EQ(queue.latency_of_bin.size(), overview.tree.bins.size());
  size_t all = 0;
  for (size_t bin = 0; bin < queue.latency_of_bin.size(); ++bin) {
    const std::vector<uint32_t>& counts = queue.latency_of_bin[bin].counts();
    ASSERT_GT(counts.size(), LatencyCounts::BucketOf(400));
    EXPECT_EQ(counts[LatencyCounts::BucketOf(300)], counts[LatencyCounts::BucketOf(400)]);
    for (const uint32_t count : counts) all += count;
  }
  EXPECT_EQ(all, queue.latency.count);
}

TEST(LaunchQueueTest, AFewStepsHaveCurvesInOrder) {
  const Store store = MakeStore();
  const RunOverview overview = BuildOverview(store);
  const LaunchQueue& queue = overview.queues[0];
  ASSERT_EQ(queue.curves.size(), 10u);  // fewer than stretches: every step
  for (size_t i = 0; i < queue.curves.size(); ++i) {
    EXPECT_EQ(queue.curves[i].step, i);
    EXPECT_EQ(queue.curves[i].points.front().time_ns, int64_t(i) * 1000);
    EXPECT_EQ(queue.curves[i].points.size(), queue.curve.points.size());
  }
}

TEST(LatencyCountsTest, ABucketIsAtMostASixteenthOfItsLatencyWide) {
  for (size_t bucket = 0; bucket < 32; ++bucket) {
    EXPECT_EQ(LatencyCounts::BucketOf(int64_t(bucket)), bucket);
    EXPECT_EQ(LatencyCounts::StartOf(bucket), int64_t(bucket));
  }
  for (int64_t ns = 32; ns < int64_t{1} << 61; ns += ns / 7) {
    const size_t bucket = LatencyCounts::BucketOf(ns);
    const int64_t start = LatencyCounts::StartOf(bucket);
    const int64_t next = LatencyCounts::StartOf(bucket + 1);
    EXPECT_LE(start, ns);
    EXPECT_LT(ns, next);
    EXPECT_LE(double(next - start), double(ns) * LatencyCounts::kResolution);
  }
}

TEST(LaunchQueueTest, NoStepsNoQueue) {
  testing::StoreBuilder build;
  build.Kernel(build.Thread(build.Process(7, "train.py")), "a", 1, 2, 3);
  const Store store = build.Build();
  EXPECT_TRUE(AnalyzeLaunchQueues(store, {}).empty());
}

}  // namespace
}  // namespace batchlight
