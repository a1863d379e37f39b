#include "analysis/steps/step_lookup.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

constexpr size_t kNone = StepLookup::kNone;

// [10, 20) and, right after it, [20, 30); a gap; [40, 50). The second is not steady.
ProcessSteps ThreeSteps() {
  ProcessSteps process;
  for (const auto& [start, end] : {std::pair{10, 20}, {20, 30}, {40, 50}}) {
    process.steps.push_back({.start_ns = start, .end_ns = end});
  }
  process.steady = {0, 2};
  return process;
}

size_t Expected(int64_t time) {
  if (time >= 10 && time < 20) return 0;
  if (time >= 20 && time < 30) return 1;
  if (time >= 40 && time < 50) return 2;
  return kNone;
}

TEST(StepLookup, AStepHoldsItsStartAndNotItsEnd) {
  const ProcessSteps process = ThreeSteps();
  for (int64_t time = 0; time < 60; ++time) {
    EXPECT_EQ(StepLookup::Around(process.steps, time), Expected(time)) << time;
  }
}

TEST(StepLookup, AnswersTheSameInAnyOrder) {
  const ProcessSteps process = ThreeSteps();
  StepLookup forward(&process);
  for (int64_t time = 0; time < 60; ++time) EXPECT_EQ(forward.RowAt(time), Expected(time)) << time;
  StepLookup jumping(&process);
  for (int64_t i = 0; i < 60; ++i) {
    const int64_t time = i * 37 % 60;
    EXPECT_EQ(jumping.RowAt(time), Expected(time)) << time;
    EXPECT_EQ(jumping.IsSteadyAt(time), Expected(time) == 0 || Expected(time) == 2) << time;
  }
}

TEST(StepLookup, KnowsWhatBeganAndWhatHasNotEnded) {
  const std::vector<Step> steps = ThreeSteps().steps;
  EXPECT_EQ(StepLookup::LastBegun(steps, 9), kNone);
  EXPECT_EQ(StepLookup::LastBegun(steps, 35), 1u);
  EXPECT_EQ(StepLookup::LastBegun(steps, 99), 2u);
  EXPECT_EQ(StepLookup::FirstUnfinished(steps, 0), 0u);
  EXPECT_EQ(StepLookup::FirstUnfinished(steps, 20), 1u);
  EXPECT_EQ(StepLookup::FirstUnfinished(steps, 30), 2u);
  EXPECT_EQ(StepLookup::FirstUnfinished(steps, 50), 3u);
}

TEST(StepLookup, OfNoProcessNothingLiesInAStep) {
  StepLookup none;
  EXPECT_EQ(none.RowAt(0), kNone);
  EXPECT_FALSE(none.IsSteadyAt(15));
  EXPECT_EQ(StepLookup::Around({}, 15), kNone);
}

// A step without length is around no moment.
TEST(StepLookup, AnEmptyStepHoldsNothing) {
  ProcessSteps process = ThreeSteps();
  process.steps.insert(process.steps.begin(), {.start_ns = 10, .end_ns = 10});
  process.steady = {0, 1, 2, 3};
  StepLookup lookup(&process);
  EXPECT_EQ(lookup.RowAt(10), 1u);
  EXPECT_EQ(lookup.RowAt(9), kNone);
}

}  // namespace
}  // namespace batchlight
