#include "analysis/phases/plain_spans.h"

#include <gtest/gtest.h>

#include "analysis/steps/steps.h"
#include "analysis/testing/plain_marks.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

TEST(PlainSpans, FromTheEndOfAStepToTheNext) {
  testing::StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId thread = build.Thread(process);
  const ThreadId other = build.Thread(build.Process(101, "train.py"));
  testing::PlainMark(build, thread, false, 1030, 30);
  testing::PlainMark(build, thread, true, 2020, 20);
  testing::PlainMark(build, other, false, 1500, 10);
  testing::PlainMark(build, thread, false, 5000, 40);
  build.store().nvtx_marks.Append({.start_ns = 1500,
                                   .thread = thread,
                                   .message = build.Text("detail on")});  // the program's own
  const Store store = build.Build();
  const std::vector<PlainSpan> spans = FindPlainSpans(store, process);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].start_ns, 1000);
  EXPECT_EQ(spans[0].end_ns, 2000);
  EXPECT_EQ(spans[0].switch_ns, 30);
  EXPECT_EQ(spans[1].start_ns, 4960);
  EXPECT_EQ(spans[1].end_ns, kOpenEnd);
}

// Forty steps of 1 ms, without detail from the end of every eighth on, for `plain_ns`.
StepSet StepsOf(int64_t plain_ns) {
  testing::StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(100, "train.py"));
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t start = i * 1'000'000;
    build.Range(thread, "step", start, start + 1'000'000);
    if (i % 8 != 4) continue;
    testing::PlainMark(build, thread, false, start + 1000, 1000);
    testing::PlainMark(build, thread, true, start + plain_ns + 1000, 1000);
  }
  return FindSteps(build.Build());
}

std::vector<StepKind> KindsAround(const StepSet& set, size_t step) {
  std::vector<StepKind> kinds;
  for (size_t i = step - 1; i <= step + 1; ++i) kinds.push_back(set.Main()->steps[i].kind);
  return kinds;
}

TEST(PlainSteps, AreNoneOfTheSteadyOnes) {
  const StepSet set = StepsOf(1'000'000);
  using enum StepKind;
  EXPECT_EQ(KindsAround(set, 12), (std::vector{kSteady, kPlain, kSteady}));
  EXPECT_EQ(set.Main()->steady.size(), 35u);
}

TEST(PlainSteps, APartWithoutDetailIsTold) {
  const StepSet set = StepsOf(1'400'000);
  using enum StepKind;
  EXPECT_EQ(KindsAround(set, 12), (std::vector{kSteady, kPlain, kPartlyPlain}));
}

}  // namespace
}  // namespace batchlight
