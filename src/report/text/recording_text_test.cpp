#include "report/text/recording_text.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"
#include "report/text/run_text.h"

namespace batchlight {
namespace {

RunOverview Measured(double ns, double low_ns, double high_ns) {
  RunOverview overview;
  overview.recording_cost = {
      .step_ns = 37'700'000,
      .measured = LongerBy{.ns = ns, .low_ns = low_ns, .high_ns = high_ns, .samples = 14},
      .plain_step_ns = 35'300'000,
      .detailed_steps = 586,
      .plain_steps = 14};
  return overview;
}

TEST(RecordingText, MeasuredOnControlSteps) {
  const RunOverview overview = Measured(2'400'000, 2'010'000, 2'700'000);
  EXPECT_EQ(RecordingCostText(overview),
            "recording adds 2.40 ms to a step (6.8 % ± 1.1, measured on 14 control steps)");
}

TEST(RecordingText, SaysWhatControlStepsCannotShow) {
  RunOverview overview = Measured(2'400'000, 2'010'000, 2'700'000);
  overview.recording_cost.kept_ns = 500'000;
  EXPECT_EQ(
      RecordingCostText(overview),
      "recording adds 2.40 ms to a step (6.8 % ± 1.1, measured on 14 control steps; 500 µs of "
      "it in steps without detail too, estimated)");
}

TEST(RecordingText, NotMoreThanNoise) {
  const RunOverview overview = Measured(-20'000, -200'000, 150'000);
  EXPECT_EQ(
      RecordingCostText(overview),
      "recording adds 0 ns to a step (0.0 % ± 0.5, measured on 14 control steps), no more than "
      "steps differ by themselves");
}

TEST(RecordingText, ABudgetIsKeptOrNot) {
  RunOverview overview = Measured(2'400'000, 2'010'000, 2'700'000);
  RecordingCost& cost = overview.recording_cost;
  cost.budget = 0.03;
  cost.detailed_steps = 200;
  cost.plain_steps = 400;
  EXPECT_EQ(RecordingCostText(overview),
            "recording adds 2.40 ms to a step (6.8 % ± 1.1, measured on 14 steps with detail); "
            "--overhead 3 %: 2.3 % in the mean of 600 steps, 200 of them with detail");
  cost.budget = 0.01;
  EXPECT_NE(RecordingCostText(overview).find("--overhead 1 % was not kept: 2.3 % in the mean"),
            std::string::npos);
}

TEST(RecordingText, EstimatedAsARange) {
  RunOverview overview;
  RecordingCost& cost = overview.recording_cost;
  EXPECT_EQ(RecordingCostText(overview), "");
  cost = {.kinds = {{"operators", 1473.2, 400, 100}, {"ranges", 2, 200, 50}},
          .low_ns = 150'000,
          .high_ns = 600'000,
          .step_ns = 10'000'000,
          .plain_step_ns = 9'400'000};
  EXPECT_EQ(RecordingCostText(overview),
            "recording adds 150 µs to 600 µs to a step (1.5 to 6.4 %, estimated): 1,473 operators, "
            "2.0 ranges");
  cost.low_ns = 0;
  EXPECT_EQ(RecordingCostText(overview),
            "recording adds at most 600 µs to a step (6.4 %, estimated): 1,473 operators, 2.0 "
            "ranges");
  cost.budget = 0.03;
  EXPECT_EQ(RecordingCostText(overview),
            "recording adds at most 600 µs to a step (6.4 %, estimated): 1,473 operators, 2.0 "
            "ranges; whether --overhead was kept cannot be told");
}

TEST(RecordingText, FromHowManySteps) {
  RunOverview overview = Measured(1, 1, 1);
  EXPECT_EQ(DetailedStepsText(overview), "");
  overview.steps.processes.resize(1);
  std::vector<Step>& steps = overview.steps.processes[0].steps;
  steps.resize(600, {.end_ns = 500'000});
  overview.steps.processes[0].steady.resize(580);
  EXPECT_EQ(DetailedStepsText(overview), "");
  for (size_t i = 0; i < 15; ++i) steps[40 * i] = {.end_ns = 395'000, .kind = StepKind::kPlain};
  EXPECT_EQ(DetailedStepsText(overview),
            "operators, modules and kernels: from 580 of 600 steps; those without detail take 395 "
            "µs (median)");
  EXPECT_EQ(StepsOfRanks(overview), "from 580 of 600 steps");
  overview.steps.processes.resize(2);
  EXPECT_EQ(StepsOfRanks(overview), "mean of 2 processes, from 580 of 600 steps");
}

TEST(RecordingText, HowDeepOperatorsAre) {
  testing::StoreBuilder build;
  RunOverview overview;
  const Store whole = build.Build();
  overview.store = &whole;
  EXPECT_EQ(OperatorLevelsText(overview), "");
  testing::StoreBuilder cut;
  cut.Property(kOperatorLevelsKey, "2");
  const Store store = cut.Build();
  overview.store = &store;
  EXPECT_EQ(OperatorLevelsText(overview), "operators: the outermost 2 levels (--pytorch-depth)");
}

}  // namespace
}  // namespace batchlight
