#include "inject/collect/detail_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace batchlight::inject {
namespace {

TEST(DetailPlan, OneOfEveryGroupAndNeverTwoInARow) {
  const DetailPlan plan({.every = 16});
  size_t places[16] = {};
  bool before = true;
  for (uint64_t group = 0; group < 1000; ++group) {
    size_t plain = 0;
    for (uint64_t place = 0; place < 16; ++place) {
      const bool detail = plan.HasDetail(group * 16 + place);
      EXPECT_TRUE(detail || before) << "two in a row at " << group * 16 + place;
      before = detail;
      plain += !detail;
      places[place] += !detail;
    }
    EXPECT_EQ(plain, 1u);
  }
  EXPECT_EQ(places[0], 0u);
  for (size_t place = 1; place < 16; ++place) EXPECT_NEAR(double(places[place]), 67, 35);
}

TEST(DetailPlan, WithoutOptionsAllStepsHaveDetail) {
  const DetailPlan plan;
  EXPECT_FALSE(plan.chooses());
  for (uint64_t step = 0; step < 100; ++step) EXPECT_TRUE(plan.HasDetail(step));
}

// A loop whose steps take 10 ms, longer by `cost` with detail, as a recorded program would run it.
struct Loop {
  explicit Loop(double wanted, double detail_cost, uint32_t every = 16)
      : plan({.every = every, .budget = wanted}), cost(detail_cost) {}

  // Share of time that detail added to steps `from` to `to`.
  double Run(uint64_t from, uint64_t to) {
    double plain_us = 0;
    double added_us = 0;
    detailed = 0;
    for (uint64_t step = from; step < to; ++step) {
      const bool detail = plan.HasDetail(step);
      double us = 10'000 * (1 + drift * double(step)) * (1 + 0.02 * noise(random));
      if (rhythm != 0 && step % rhythm == 0) us *= 4;  // it logs, or validates
      plain_us += us;
      if (detail) added_us += us * cost;
      detailed += detail;
      plan.Took(step, detail, static_cast<uint64_t>(us * (detail ? 1 + cost : 1)));
    }
    return added_us / plain_us;
  }

  DetailPlan plan;
  double cost;
  double drift = 0;
  uint64_t rhythm = 0;
  uint64_t detailed = 0;
  std::mt19937 random{7};
  std::normal_distribution<double> noise;
};

TEST(DetailPlan, StaysWithinTheBudget) {
  for (const double cost : {0.05, 0.12, 0.36, 1.0, 2.5}) {
    Loop loop(0.03, cost);
    loop.Run(0, 64);  // it measures
    const double added = loop.Run(64, 3000);
    EXPECT_LE(added, 0.0315) << cost;
    EXPECT_GE(added, 0.012) << cost << ": more steps would fit";
    EXPECT_GE(loop.detailed, 15u) << cost;
  }
}

// Also of short runs, of which measuring is a good part.
TEST(DetailPlan, WhatMeasuringSpentIsSaved) {
  for (const double cost : {0.05, 0.12, 0.25, 0.36}) {
    for (const uint64_t steps : {250, 400, 1000}) {
      Loop loop(0.03, cost);
      const double added = loop.Run(0, steps);
      EXPECT_LE(added, 0.0315) << cost << " in " << steps;
      EXPECT_GE(added, 0.01) << cost << " in " << steps << ": more steps would fit";
    }
  }
}

TEST(DetailPlan, RecordsAlmostAllWhereDetailIsCheap) {
  Loop loop(0.03, 0.01);
  loop.Run(0, 64);
  EXPECT_LE(loop.Run(64, 1664), 0.01);
  EXPECT_EQ(loop.detailed, 1500u) << "all but the control steps";
}

TEST(DetailPlan, DriftAndRhythmDoNotFoolIt) {
  Loop loop(0.03, 0.3);
  loop.drift = 0.001;
  loop.rhythm = 10;
  loop.Run(0, 64);
  EXPECT_LE(loop.Run(64, 3000), 0.034);
  EXPECT_GE(loop.detailed, 150u);
}

TEST(DetailPlan, FollowsWhatDetailComesToCost) {
  Loop loop(0.03, 0.01);
  loop.Run(0, 500);
  loop.cost = 0.6;  // longer sequences, say
  loop.Run(500, 1000);
  EXPECT_LE(loop.Run(1000, 3000), 0.033) << "what was saved before may be spent";
  EXPECT_GE(loop.detailed, 60u);
}

TEST(DetailPlan, ABudgetThatCannotBeMetLeavesSomeSteps) {
  Loop loop(0.001, 3);
  loop.Run(0, 64);
  EXPECT_GT(loop.Run(64, 2624), 0.001);
  EXPECT_EQ(loop.detailed, 10u) << "one in 256";
}

// Two ranks, some steps apart, that do not agree on what detail costs.
TEST(DetailPlan, RanksChooseTheSameSteps) {
  Loop first(0.03, 0.3);
  Loop second(0.03, 0.1);
  uint32_t plans = 0;
  for (uint64_t step = 0; step < 2000; ++step) {
    first.Run(step, step + 1);
    if (const uint32_t plan = first.plan.published()) second.plan.Adopt(plan, step);
    plans += first.plan.published() != 0;
    EXPECT_EQ(first.plan.HasDetail(step + 1), second.plan.HasDetail(step + 1)) << step;
  }
  EXPECT_GT(plans, 900u);
}

TEST(DetailPlan, APlanOfLongAgoIsNotTaken) {
  Loop first(0.03, 0.3);
  first.Run(0, 50);
  const uint32_t old = first.plan.published();
  ASSERT_NE(old, 0u);
  Loop second(0.03, 0.3);
  second.plan.Adopt(old, 5000);
  EXPECT_EQ(second.plan.published(), 0u);
}

}  // namespace
}  // namespace batchlight::inject
