// An optimizer that updates each parameter on its own, on the CPU.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::kMs;
using testing::StoreBuilder;

struct Case {
  std::string_view torch;
  std::string_view optimizer;
  int64_t operator_ns;  // of each 10 us
};

// 20 steps of 10 ms, of which 300 operators in the optimizer take 3 of 4 ms.
std::vector<Finding> FindingsOf(const Case& one) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Property("torch.version", one.torch);
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Phase(thread, Phase::kOptimizerStep, one.optimizer, at + 5 * kMs, at + 9 * kMs);
    for (int64_t op = 0; op < 300; ++op) {
      const int64_t start = at + 5 * kMs + op * 10'000;
      build.Operator(thread, "aten::mul_", start, start + one.operator_ns);
      build.Operator(thread, "aten::empty", start + 1, start + one.operator_ns - 1);
    }
  }
  const Store store = build.Build();
  std::vector<Finding> findings = BuildOverview(store).findings;
  std::erase_if(findings,
                [](const Finding& finding) { return finding.rule != "unfused-optimizer-cpu"; });
  return findings;
}

TEST(OptimizerRules, FusedWherePyTorchHasItForTheCpu) {
  const auto findings = FindingsOf({"2.11.0+cpu", "Optimizer.step#AdamW.step", 9'000});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NEAR(findings[0].gain_ns, 0.7 * 4 * kMs, 0.01 * kMs);
  EXPECT_EQ(findings[0].action, "Pass fused=True to AdamW.");
  EXPECT_NE(findings[0].patch.diff.find("torch.optim.AdamW(parameters, lr=lr, fused=True)"),
            std::string::npos);
}

TEST(OptimizerRules, ForeachSavesTheCallsElsewhere) {
  for (const Case& one : {Case{"1.13.0a0", "Optimizer.step#AdamW.step", 6'000},
                          Case{"2.11.0", "Optimizer.step#RMSprop.step", 6'000}}) {
    const auto findings = FindingsOf(one);
    ASSERT_EQ(findings.size(), 1u) << one.optimizer;
    // Half of what lies between the operators: 4 ms without 300 times 6 us.
    EXPECT_NEAR(findings[0].gain_ns, 0.5 * 2.2 * kMs, 0.01 * kMs);
    EXPECT_EQ(findings[0].action.find("Pass foreach=True to "), 0u) << findings[0].action;
  }
}

// With large parameters foreach is slower.
TEST(OptimizerRules, NothingWhereTheOperatorsHaveTheirWork) {
  EXPECT_TRUE(FindingsOf({"1.13.0a0", "Optimizer.step#AdamW.step", 9'900}).empty());
}

}  // namespace
}  // namespace batchlight
