#include "timeline/answers/gap_search.h"

#include <gtest/gtest.h>

#include "analysis/steps/step_lookup.h"
#include "analysis/testing/store_builder.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using testing::StoreBuilder;

constexpr int kSteps = 8;
constexpr int64_t kMs = 1'000'000;

// Steps of 10 ms with two kernels each, between which the GPU is idle for 1 ms, in the step
// `long_step` for 4 ms; `after_ms` after the last one a kernel of something else.
Store Loop(int long_step, int64_t after_ms) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  int64_t end_ns = 0;
  for (int step = 0; step < kSteps; ++step) {
    const int64_t start_ns = step * 10 * kMs;
    build.Range(main, "step", start_ns, start_ns + 10 * kMs);
    const int64_t gap_ns = (step == long_step ? 4 : 1) * kMs;
    build.Kernel(main, "first", start_ns, start_ns, start_ns + 5 * kMs);
    end_ns = start_ns + 10 * kMs;
    build.Kernel(main, "second", start_ns + kMs, start_ns + 5 * kMs + gap_ns, end_ns);
  }
  build.Kernel(main, "last", end_ns, end_ns + after_ms * kMs, end_ns + (after_ms + 1) * kMs);
  return build.Build();
}

TEST(GapSearch, TakesStepZeroWhereItCounts) {
  const Store store = Loop(0, 2);
  const auto timeline = BuildTimeline(store);
  ASSERT_EQ(timeline->steps().Main()->steady.front(), 0u);
  const LongestGap gap = NthLongestGap(*timeline, 0);
  EXPECT_EQ(timeline->events().Start(gap.found.ref), 5 * kMs);
  EXPECT_EQ(gap.found.count, size_t{kSteps});
  EXPECT_EQ(gap.steps, size_t{kSteps});
  EXPECT_TRUE(gap.outside.empty());
}

TEST(GapSearch, NamesALongerOneElsewhere) {
  const Store store = Loop(3, 7);
  const auto timeline = BuildTimeline(store);
  const LongestGap gap = NthLongestGap(*timeline, 0);
  const Events& events = timeline->events();
  EXPECT_EQ(events.Start(gap.found.ref), 35 * kMs);
  ASSERT_EQ(gap.outside.size(), 1u);
  const uint32_t outside = gap.outside[0].ref;
  EXPECT_EQ(events.End(outside) - events.Start(outside), 7 * kMs);
  EXPECT_EQ(gap.outside[0].where, "after the last step");
}

// A pause of an epoch's start between two steps, and a longer one in the first step, which warms
// up.
TEST(GapSearch, NamesThatOfAnEpochBesideThatOfWarmUp) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  int64_t now_ns = 0;
  for (int step = 0; step < 20; ++step) {
    const int64_t gap_ns = (step == 0 ? 90 : 1) * kMs;
    if (step == 10) now_ns += 40 * kMs;
    build.Range(main, "step", now_ns, now_ns + 9 * kMs + gap_ns);
    build.Kernel(main, "first", now_ns, now_ns, now_ns + 5 * kMs);
    build.Kernel(main, "second", now_ns + kMs, now_ns + 5 * kMs + gap_ns,
                 now_ns + 9 * kMs + gap_ns);
    now_ns += 9 * kMs + gap_ns;
  }
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store);
  StepSet steps = timeline->steps();
  ProcessSteps& process = steps.processes.front();
  ASSERT_NE(process.steady.front(), 0u);
  const size_t epoch = StepLookup::Around(process.steps, 99 * kMs + 9 * 10 * kMs);
  ASSERT_NE(epoch, StepLookup::kNone);
  process.steps[epoch].kind = StepKind::kEpochStart;
  std::erase(process.steady, static_cast<uint32_t>(epoch));
  timeline->SetSteps(std::move(steps));
  const LongestGap gap = NthLongestGap(*timeline, 0);
  const Events& events = timeline->events();
  ASSERT_EQ(gap.outside.size(), 2u) << events.End(gap.found.ref) - events.Start(gap.found.ref);
  const auto length = [&](size_t i) {
    return events.End(gap.outside[i].ref) - events.Start(gap.outside[i].ref);
  };
  EXPECT_EQ(length(0), 90 * kMs);
  EXPECT_EQ(length(1), 40 * kMs);
  EXPECT_NE(gap.outside[1].where.find("epoch start"), std::string::npos) << gap.outside[1].where;
}

TEST(GapSearch, TakesTheWholeRunWithoutSteps) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Kernel(main, "first", 0, 0, kMs);
  build.Kernel(main, "second", kMs, 3 * kMs, 4 * kMs);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store);
  const LongestGap gap = NthLongestGap(*timeline, 0);
  EXPECT_EQ(gap.steps, 0u);
  EXPECT_EQ(gap.found.count, 1u);
  EXPECT_TRUE(gap.outside.empty());
}

}  // namespace
}  // namespace batchlight::timeline
