#include "analysis/numbers/alternating.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace batchlight {
namespace {

using Random = std::mt19937_64;

double Noise(Random& random) { return std::normal_distribution<double>()(random); }
double Even(Random& random) { return std::uniform_real_distribution<double>()(random); }

// ms of step `i` of `count`, not recorded.
using Loop = std::function<double(Random& random, int i, int count)>;

constexpr double kAdded = 2.4;  // of steps of 35 ms

// One in `every` steps is the rarer kind.
std::vector<AlternatingStep> Simulate(const Loop& loop, Random& random, int count, int every,
                                      bool rarer_is_longer = false) {
  std::vector<AlternatingStep> steps;
  int chosen = 0;
  for (int i = 0; i < count; ++i) {
    if (i % every == 0) chosen = i + 1 + static_cast<int>(Even(random) * (every - 1));
    const bool longer = (i == chosen) == rarer_is_longer;
    steps.push_back({.ns = loop(random, i, count) + (longer ? kAdded : 0), .longer = longer});
  }
  return steps;
}

double Jittering(Random& random, int, int) { return 35 + 0.5 * Noise(random); }

// In how many of 200 simulated runs the interval holds the truth.
int Holds(const Loop& loop, int count, int every = 16, bool rarer_is_longer = false) {
  int holds = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto found = CompareAlternating(Simulate(loop, random, count, every, rarer_is_longer));
    if (!found) ADD_FAILURE() << "too few at seed " << seed;
    if (!found) return 0;
    EXPECT_LE(found->low_ns, found->ns);
    EXPECT_LE(found->ns, found->high_ns);
    holds += found->low_ns <= kAdded && kAdded <= found->high_ns;
  }
  return holds;
}

constexpr int kMostRuns = 190;  // 95 of 100

TEST(Alternating, HoldsTheTruth) {
  for (const int count : {150, 250, 600}) EXPECT_GE(Holds(Jittering, count), kMostRuns) << count;
}

TEST(Alternating, FewRecordedAmongManyPlain) {
  EXPECT_GE(Holds(Jittering, 600, 15, true), kMostRuns);
}

TEST(Alternating, Drift) {
  const Loop slower = [](Random& random, int i, int count) {
    return 35 + 10.0 * i / count + 0.5 * Noise(random);
  };
  const Loop jump = [](Random& random, int i, int count) {
    return (i > count / 2 ? 43 : 35) + 0.5 * Noise(random);
  };
  EXPECT_GE(Holds(slower, 250), kMostRuns);
  EXPECT_GE(Holds(jump, 250), kMostRuns);
}

TEST(Alternating, BatchesOfSeveralLengths) {
  const Loop buckets = [](Random& random, int, int) {
    const double lengths[] = {18, 35, 63};
    return lengths[static_cast<int>(Even(random) * 3)] + 0.5 * Noise(random);
  };
  const Loop any_length = [](Random& random, int, int) { return 15 + 40 * Even(random); };
  EXPECT_GE(Holds(buckets, 250), kMostRuns);
  EXPECT_GE(Holds(any_length, 250), kMostRuns);
}

TEST(Alternating, WildSteps) {
  const Loop wild = [](Random& random, int, int) {
    return 35 + 0.5 * Noise(random) + (Even(random) < 0.05 ? 60 : 0);
  };
  const Loop skewed = [](Random& random, int, int) { return 34 * std::exp(0.05 * Noise(random)); };
  EXPECT_GE(Holds(wild, 250), kMostRuns);
  EXPECT_GE(Holds(skewed, 250), kMostRuns);
}

TEST(Alternating, IsPreciseWhereStepsAreEven) {
  Random random(1);
  const auto found = CompareAlternating(Simulate(Jittering, random, 250, 16));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->ns, kAdded, 0.5);
  EXPECT_LT(found->high_ns - found->low_ns, 1.5);
  EXPECT_GE(found->samples, 13u);
}

TEST(Alternating, ALongRun) {
  Random random(1);
  const auto found = CompareAlternating(Simulate(Jittering, random, 40'000, 16));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->samples, 2500u);
  EXPECT_NEAR(found->ns, kAdded, 0.05);
  EXPECT_LT(found->high_ns - found->low_ns, 0.1);
  EXPECT_GT(found->high_ns - found->low_ns, 0.01);
}

TEST(Alternating, TooFew) {
  Random random(1);
  EXPECT_FALSE(CompareAlternating({}));
  EXPECT_FALSE(CompareAlternating(Simulate(Jittering, random, 80, 16)));
  std::vector<AlternatingStep> all_alike(100, {.ns = 35, .longer = true});
  EXPECT_FALSE(CompareAlternating(all_alike));
}

}  // namespace
}  // namespace batchlight
