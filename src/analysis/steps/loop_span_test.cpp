#include "analysis/steps/loop_span.h"

#include <gtest/gtest.h>

#include <vector>

namespace batchlight {
namespace {

// Steps of 10 ns, 5 ns apart, from 100 on.
LoopSpan SpanOf(const std::vector<StepKind>& kinds) {
  std::vector<Step> steps;
  for (const StepKind kind : kinds) {
    const int64_t start_ns = 100 + 15 * int64_t(steps.size());
    steps.push_back({.start_ns = start_ns, .end_ns = start_ns + 10, .kind = kind});
  }
  return SpanOfLoop(steps);
}

TEST(LoopSpan, TheWholeHasAllSteps) {
  const LoopSpan loop = SpanOf({StepKind::kCompile, StepKind::kWarmUp, StepKind::kSteady});
  EXPECT_EQ(loop.whole, (TimeSpan{100, 140}));
  EXPECT_EQ(loop.whole_ns(), 40);
  EXPECT_EQ(SpanOf({}).whole, TimeSpan());
}

TEST(LoopSpan, ItSettlesBehindWhatComesOnce) {
  const auto settled = [](const std::vector<StepKind>& kinds) { return SpanOf(kinds).settled; };
  EXPECT_EQ(settled({StepKind::kSteady, StepKind::kSteady}), (TimeSpan{100, 125}));
  EXPECT_EQ(
      settled({StepKind::kCompile, StepKind::kWarmUp, StepKind::kGraphCapture, StepKind::kSteady}),
      (TimeSpan{145, 155}));
  EXPECT_EQ(settled({StepKind::kWarmUp, StepKind::kCompile, StepKind::kSteady}),
            (TimeSpan{115, 140}))
      << "a later compilation may come again";
  EXPECT_EQ(settled({StepKind::kRollout, StepKind::kRollout}), (TimeSpan{100, 125}))
      << "the first rollout as well as the others";
  EXPECT_EQ(settled({StepKind::kWarmUp, StepKind::kWarmUp}), TimeSpan());
  EXPECT_EQ(settled({StepKind::kCompile}), (TimeSpan{100, 110})) << "the only one";
}

TEST(LoopSpan, ItsStepsAreThoseInIt) {
  EXPECT_EQ(SpanOf({StepKind::kWarmUp, StepKind::kSteady, StepKind::kValidation}).settled_steps,
            2u);
}

}  // namespace
}  // namespace batchlight
