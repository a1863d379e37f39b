#include "analysis/diff/run_diff.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analysis/diff/gate.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

// Forty steps of 100 us and some jitter; the forward takes `forward` us.
Store RunOf(int64_t forward, const char* torch, const char* op, int64_t jitter = 3) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Property("torch.version", torch);
  std::mt19937 random(static_cast<unsigned>(forward));
  int64_t at = 0;
  for (int i = 0; i < 40; ++i) {
    const int64_t extra =
        jitter == 0 ? 0 : static_cast<int64_t>(random() % uint64_t(jitter * 1000));
    const int64_t end = at + 60'000 + forward * 1000 + extra;
    build.Range(thread, "step", at, end);
    build.Module(thread, "Net", "Net", at + 10'000, at + 10'000 + forward * 1000);
    build.Operator(thread, op, at + 11'000, at + 9'000 + forward * 1000);
    build.Phase(thread, Phase::kOptimizerStep, "SGD.step", end - 20'000, end - 1000);
    at = end;
  }
  return build.Build();
}

TEST(RunDiff, SaysHowMuchSlowerAndWhy) {
  const Store store_a = RunOf(40, "2.1.0", "aten::mm");
  const Store store_b = RunOf(50, "2.2.0", "aten::mm");
  const RunDiff diff = DiffRuns(BuildOverview(store_a), BuildOverview(store_b));
  EXPECT_TRUE(diff.problem.empty());
  EXPECT_NEAR(diff.delta_ns(), 10'000, 1000);
  EXPECT_NEAR(diff.relative(), 0.1, 0.01);
  EXPECT_TRUE(diff.IsSure());
  EXPECT_TRUE(diff.interval.Contains(10'000)) << diff.interval.low << " " << diff.interval.high;
  ASSERT_EQ(diff.differences.size(), 1u);
  EXPECT_EQ(diff.differences[0].what, "PyTorch");
  EXPECT_EQ(diff.lists[0].key, "phases");
  EXPECT_EQ(diff.lists[0].changes[0].name, "forward");
  EXPECT_DOUBLE_EQ(diff.lists[0].changes[0].delta_ns(), 10'000);
  EXPECT_EQ(diff.lists[0].changes[0].kind(), ChangeKind::kSlower);
}

TEST(RunDiff, TheChangesOfEveryListAddUp) {
  const Store store_a = RunOf(40, "2.1.0", "aten::mm");
  const Store store_b = RunOf(55, "2.1.0", "aten::addmm");
  const RunDiff diff = DiffRuns(BuildOverview(store_a), BuildOverview(store_b));
  ASSERT_GE(diff.lists.size(), 3u);
  for (const ChangeList& list : diff.lists) {
    double sum = 0;
    for (const Change& change : list.changes) sum += change.delta_ns();
    EXPECT_NEAR(sum, list.b_ns - list.a_ns, 0.5 * double(list.changes.size())) << list.key;
    if (list.whole == "step") {
      EXPECT_NEAR(sum, diff.delta_ns(), 2) << list.key;
    }
  }
  const ChangeList& operators = diff.lists[1];
  EXPECT_EQ(operators.key, "operators");
  EXPECT_EQ(operators.changes[0].kind(), ChangeKind::kNew);
  EXPECT_EQ(operators.changes[1].kind(), ChangeKind::kGone);
}

TEST(RunDiff, NoDifferenceIsCalledNone) {
  const Store store_a = RunOf(40, "2.1.0", "aten::mm");
  const Store store_b = RunOf(40, "2.1.0", "aten::mm");
  const RunDiff same = DiffRuns(BuildOverview(store_a), BuildOverview(store_b));
  EXPECT_FALSE(same.IsSure());
  EXPECT_EQ(same.delta_ns(), 0);
}

TEST(RunDiff, WithoutStepsSaysWhichSide) {
  const Store store = RunOf(40, "2.1.0", "aten::mm");
  const Store empty;
  const RunDiff diff = DiffRuns(BuildOverview(store), BuildOverview(empty));
  EXPECT_NE(diff.problem.find("the second recording: no steps"), std::string::npos);
}

TEST(Confidence, StudentsQuantiles) {
  EXPECT_NEAR(StudentQuantile95(1), 12.706, 0.001);
  EXPECT_NEAR(StudentQuantile95(10), 2.228, 0.001);
  EXPECT_NEAR(StudentQuantile95(60), 2.000, 0.002);
  EXPECT_NEAR(StudentQuantile95(1e9), 1.960, 0.001);
  EXPECT_NEAR(StudentQuantile95(1.5), (12.706 + 4.303) / 2, 0.01);
}

// The interval holds the true difference in about 95 of 100 experiments.
TEST(Confidence, CoversTheTruth) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0, 100);
  int covered = 0;
  constexpr int kRounds = 1000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int64_t> a;
    std::vector<int64_t> b;
    for (int i = 0; i < 25; ++i) a.push_back(std::llround(5000 + noise(random)));
    for (int i = 0; i < 90; ++i) b.push_back(std::llround(5040 + 3 * noise(random)));
    covered += DifferenceOfMeans(a, b).Contains(40);
  }
  EXPECT_GT(covered, 0.92 * kRounds);
  EXPECT_LT(covered, 0.98 * kRounds);
}

TEST(Confidence, OneStepProvesNothing) {
  EXPECT_TRUE(DifferenceOfMeans({5}, {1, 2, 3}).Contains(1e12));
  EXPECT_TRUE(DifferenceOfMeans({5, 5}, {5, 5}).Contains(0));
}

TEST(Gate, FailsOnlyAboveItsLimit) {
  const Store store_a = RunOf(40, "2.1.0", "aten::mm");
  const Store store_b = RunOf(50, "2.1.0", "aten::mm");
  const RunDiff diff = DiffRuns(BuildOverview(store_a), BuildOverview(store_b));
  auto failed = [&](const std::string& text) {
    const auto gates = ParseGates(text);
    EXPECT_TRUE(gates.ok()) << text;
    const auto results = CheckGates(gates.value(), diff);
    EXPECT_TRUE(results.ok()) << results.status().message();
    bool any = false;
    for (const GateResult& result : results.value()) any |= result.failed;
    return any;
  };
  EXPECT_TRUE(failed("step>3%"));
  EXPECT_FALSE(failed("step>15%"));
  EXPECT_TRUE(failed("step > 0.005 ms"));
  EXPECT_FALSE(failed("optimizer>1%"));
  EXPECT_TRUE(failed("optimizer>1%, forward>5us"));
  EXPECT_TRUE(failed("operator:aten::mm>10%"));
  EXPECT_FALSE(failed("module:Net>0.1s"));
  const RunDiff same = DiffRuns(BuildOverview(store_a), BuildOverview(store_a));
  EXPECT_FALSE(CheckGates(ParseGates("step>0%").value(), same).value()[0].failed);
}

TEST(Gate, SaysWhatIsWrongWithIt) {
  for (const char* text : {"", "step", "step>", "step>3", ">3%", "step>3%,,", "step>-1%",
                           "step>nan%", "step<3%", "step>3%x"}) {
    EXPECT_FALSE(ParseGates(text).ok()) << text;
  }
  EXPECT_EQ(ParseGates("step").status().kind(), ErrorKind::kUsage);
  const Store store = RunOf(40, "2.1.0", "aten::mm");
  const RunDiff diff = DiffRuns(BuildOverview(store), BuildOverview(store));
  const auto unknown = CheckGates(ParseGates("forwrd>3%").value(), diff);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.status().message().find("did you mean forward"), std::string::npos)
      << unknown.status().message();
}

TEST(Gate, ANameMayHoldACommaAndAGreaterSign) {
  const auto gates = ParseGates("kernel:f<4, g<int>>>5%, step>1%");
  ASSERT_TRUE(gates.ok()) << gates.status().message();
  ASSERT_EQ(gates.value().size(), 2u);
  EXPECT_EQ(gates.value()[0].name, "f<4, g<int>>");
}

}  // namespace
}  // namespace batchlight
