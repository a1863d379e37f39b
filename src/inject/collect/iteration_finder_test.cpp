#include "inject/collect/iteration_finder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace batchlight::inject {
namespace {

// The numbers of the iterations, of those that were run, whose end was told.
using Ends = std::vector<int>;

Ends From(int first, int last) {
  Ends ends;
  for (int i = first; i <= last; ++i) ends.push_back(i);
  return ends;
}

TEST(IterationFinder, OneOptimizer) {
  IterationFinder finder;
  Ends ends;
  for (int i = 1; i <= 30; ++i) {
    if (finder.OptimizerStepped(7, 0)) ends.push_back(i);
  }
  EXPECT_EQ(ends, From(21, 30)) << "the first are learned from";
  EXPECT_EQ(finder.iterations(), 30u) << "and counted";
  EXPECT_FALSE(finder.watches());
}

TEST(IterationFinder, TheGeneratorEndsTheIterationOfAGan) {
  IterationFinder finder;
  Ends ends;
  for (int i = 1; i <= 20; ++i) {
    EXPECT_FALSE(finder.OptimizerStepped(1, 0)) << "the critic";
    if (finder.OptimizerStepped(2, 0)) ends.push_back(i);
  }
  EXPECT_EQ(ends, From(13, 20));
  EXPECT_EQ(finder.iterations(), 20u);
}

TEST(IterationFinder, FiveCriticStepsToOne) {
  IterationFinder finder;
  Ends ends;
  for (int i = 1; i <= 20; ++i) {
    for (int critic = 0; critic < 5; ++critic) EXPECT_FALSE(finder.OptimizerStepped(1, 0));
    if (finder.OptimizerStepped(2, 0)) ends.push_back(i);
  }
  EXPECT_EQ(ends.back(), 20);
  EXPECT_GE(ends.size(), 12u);
  EXPECT_NEAR(double(finder.iterations()), 20, 1);
}

// for epoch: with range("epoch"): for batch: with range("step"): ...; optimizer.step(); loss.item()
TEST(IterationFinder, ARangeAroundTheStepEndsIt) {
  IterationFinder finder;
  Ends ends;
  for (int i = 1; i <= 30; ++i) {
    EXPECT_FALSE(finder.OptimizerStepped(7, 2));
    if (finder.watches()) {
      EXPECT_FALSE(finder.RangeEnded(2)) << "a range inside the step";
      if (finder.RangeEnded(1)) ends.push_back(i);
      EXPECT_FALSE(finder.RangeEnded(1)) << "one after it";
      if (i % 6 == 0) {
        EXPECT_FALSE(finder.RangeEnded(0)) << "the epoch";
      }
    }
  }
  EXPECT_EQ(ends, From(21, 30));
}

TEST(IterationFinder, AnotherModelIsLearnedAnew) {
  IterationFinder finder;
  for (int i = 1; i <= 30; ++i) finder.OptimizerStepped(7, 0);
  Ends ends;
  for (int i = 1; i <= 100; ++i) {
    if (finder.OptimizerStepped(8, 0)) ends.push_back(i);
  }
  EXPECT_EQ(ends.back(), 100);
  EXPECT_LE(finder.iterations(), 130u);
  EXPECT_FALSE(finder.OptimizerStepped(7, 0));
}

TEST(IterationFinder, AnOptimizerForEachParameterTellsNothing) {
  IterationFinder finder;
  for (int i = 1; i <= 100; ++i) {
    for (uint64_t parameter = 1; parameter <= 20; ++parameter) {
      EXPECT_FALSE(finder.OptimizerStepped(parameter, 0));
    }
  }
}

TEST(IterationFinder, ALoopThatGivesUpItsRange) {
  IterationFinder finder;
  for (int i = 1; i <= 30; ++i) {
    finder.OptimizerStepped(7, 1);
    if (finder.watches()) finder.RangeEnded(0);
  }
  Ends ends;
  for (int i = 1; i <= 5; ++i) {
    if (finder.OptimizerStepped(7, 1)) ends.push_back(i);
  }
  EXPECT_EQ(ends, From(2, 5));
}

}  // namespace
}  // namespace batchlight::inject
