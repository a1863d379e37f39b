#include "analysis/ranks/late/own_times.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSteps = 40;

// Steps of 20 ms: a linear of 6 ms with an addmm inside, which takes `slow_ms` more in every fifth
// step; in backward a mm of 2 ms on autograd's thread. A third thread is of no step.
Store RankOf(int64_t slow_ms) {
  testing::StoreBuilder build;
  const ProcessId process = build.Process(9, "train.py", 0);
  const ThreadId thread = build.Thread(process), autograd = build.Thread(process),
                 other = build.Thread(process);
  for (int64_t i = 0; i < kSteps; ++i) {
    const int64_t t = i * 20 * kMs, more = i % 5 == 2 ? slow_ms * kMs : 0;
    build.Range(thread, "step", t, t + 20 * kMs);
    build.Module(thread, "Net", "Net", t, t + 8 * kMs + more);
    build.Module(thread, "fc", "Linear", t + kMs, t + 7 * kMs + more);
    build.Operator(thread, "aten::linear", t + kMs, t + 7 * kMs + more);
    build.Operator(thread, "aten::addmm", t + 2 * kMs, t + 6 * kMs + more);
    build.Phase(thread, Phase::kBackward, "backward", t + 15 * kMs, t + 18 * kMs);
    build.Operator(autograd, "MmBackward0", t + 15 * kMs, t + 17 * kMs, -1, 0,
                   OperatorScope::kBackward);
    build.Operator(other, "aten::stack", t + kMs, t + 9 * kMs);
  }
  return build.Build();
}

RankOwnTimes TimesOf(const Store& store) { return MeasureOwnTimes(store, FindSteps(store)).at(0); }

TEST(OwnTimes, AreTheMedianAndTheStepsThatTakeLonger) {
  const RankOwnTimes times = TimesOf(RankOf(5));
  ASSERT_EQ(times.operators.size(), 3u);  // the third thread's is of no step
  const OwnTimesOfName& addmm = times.operators[0];
  EXPECT_EQ(addmm.name, "aten::addmm");
  EXPECT_EQ(addmm.median_us, 4000u);
  EXPECT_EQ(addmm.calls, uint64_t{kSteps});
  EXPECT_EQ(addmm.rows, (std::vector<uint32_t>{2, 7, 12, 17, 22, 27, 32, 37}));
  EXPECT_EQ(addmm.UsOf(7), 9000u);
  EXPECT_EQ(addmm.UsOf(8), 4000u);
  EXPECT_EQ(times.operators[1].median_us, 2000u);  // linear without addmm, or backward
  EXPECT_TRUE(times.operators[1].rows.empty());
  ASSERT_EQ(times.modules.size(), 2u);
  EXPECT_EQ(times.modules[0].name, "fc");
  EXPECT_EQ(times.modules[0].median_us, 6000u);
  EXPECT_EQ(times.modules[1].median_us, 2000u);
}

// By far most are usual: of noise little is kept.
TEST(OwnTimes, OfALongRunAreFew) {
  testing::StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(9, "train.py", 0));
  for (int64_t i = 0; i < 1000; ++i) {
    const int64_t t = i * 20 * kMs;
    build.Range(thread, "step", t, t + 20 * kMs);
    for (int64_t name = 0; name < 40; ++name) {
      const int64_t at = t + name * kMs / 4;
      build.Operator(thread, "op" + std::to_string(name), at,
                     at + kMs / 8 + (i * 7919 + name * 31) % 997 * 100);
    }
  }
  const RankOwnTimes times = TimesOf(build.Build());
  ASSERT_EQ(times.operators.size(), 16u);
  for (const OwnTimesOfName& one : times.operators) EXPECT_LE(one.rows.size(), 250u);
}

struct Job {
  std::vector<RankOwnTimes> ranks;
  std::vector<LongerCall> Longer(size_t row, std::vector<OwnTimesOfName> RankOwnTimes::*which,
                                 double waited_ns = 4.0 * kMs) const {
    std::vector<uint32_t> rows(kSteps);
    std::iota(rows.begin(), rows.end(), 0);
    const std::vector<uint32_t> late = {2, 7, 12, 17, 22, 27, 32, 37};
    LongerCalls calls(ranks[row].*which, rows, late, waited_ns);
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (i != row) calls.AddOther(ranks[i].*which, rows);
    }
    return calls.Take();
  }
};

TEST(LongerCalls, AreThoseThatExplainTheWaiting) {
  const Job job{{TimesOf(RankOf(0)), TimesOf(RankOf(5)), TimesOf(RankOf(1))}};
  const auto operators = job.Longer(1, &RankOwnTimes::operators);
  ASSERT_EQ(operators.size(), 1u);
  EXPECT_EQ(operators[0].name, "aten::addmm");
  EXPECT_EQ(operators[0].ns, 9.0 * kMs);
  EXPECT_EQ(operators[0].others_ns, 5.0 * kMs);
  const auto modules = job.Longer(1, &RankOwnTimes::modules);
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].name, "fc");
  EXPECT_TRUE(job.Longer(2, &RankOwnTimes::operators).empty()) << "another one takes longer";
  EXPECT_TRUE(job.Longer(1, &RankOwnTimes::operators, 40.0 * kMs).empty()) << "a tenth of it";
}

TEST(LongerCalls, NothingIsSaidWhereTheOthersAreNotKnown) {
  const Job job{{RankOwnTimes(), TimesOf(RankOf(5))}};
  EXPECT_TRUE(job.Longer(1, &RankOwnTimes::operators).empty());
  EXPECT_TRUE(job.Longer(0, &RankOwnTimes::operators).empty());
}

}  // namespace
}  // namespace batchlight
