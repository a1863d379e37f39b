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
  std::string_view operator_name = "aten::mul_";
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
      build.Operator(thread, op == 0 ? one.operator_name : "aten::mul_", start,
                     start + one.operator_ns);
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

// One call for all parameters, and their counters of steps one by one.
TEST(OptimizerRules, AFusedOneIsNotToldToFuse) {
  EXPECT_TRUE(
      FindingsOf({"2.11.0", "Optimizer.step#AdamW.step", 9'000, "aten::_fused_adamw_"}).empty());
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

// 150 kernels of 2 us in the optimizer's 4 of 10 ms, and as many waits where it `waits`; the
// model's kernel before it takes 3 ms.
std::vector<Finding> AllOnGpu(const char* optimizer, bool waits, std::string_view groups = "",
                              std::string_view fused = "") {
  StoreBuilder build;
  if (!groups.empty()) build.Property("optimizer.groups." + std::string(optimizer), groups);
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Phase(thread, Phase::kOptimizerStep, optimizer, at + 5 * kMs, at + 9 * kMs);
    for (int64_t k = 0; k < 150; ++k) {
      const int64_t start = at + 5 * kMs + k * 20'000;
      build.Kernel(thread, "vectorized_elementwise_kernel", start, start + 4000, start + 6000);
      if (waits) build.ApiCall(thread, "cudaStreamSynchronize", start + 8000, start + 9000);
    }
    if (!fused.empty()) build.Operator(thread, fused, at + 8 * kMs, at + 8 * kMs + 50'000);
    build.Kernel(thread, "nvjet_hsh_128", at + kMs, at + 2 * kMs, at + 5 * kMs);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

Finding OnGpu(const char* optimizer, bool waits = false) {
  const std::vector<Finding> findings = AllOnGpu(optimizer, waits);
  const Finding* found = testing::FindRule(findings, "unfused-optimizer");
  return found == nullptr ? Finding() : *found;
}

TEST(OptimizerRules, AClassOfOnesOwnTakesNoArgumentOfPyTorchs) {
  const Finding known = OnGpu("Optimizer.step#AdamW.step");
  EXPECT_EQ(known.action, "Pass fused=True to AdamW.");
  EXPECT_FALSE(known.patch.diff.empty());
  const Finding own = OnGpu("Optimizer.step#LARS.step");
  EXPECT_EQ(own.action.find("Write the update of LARS for all parameters at once"), 0u)
      << own.action;
  EXPECT_TRUE(own.patch.diff.empty());
}

// A callback that runs within its step launches for each parameter.
TEST(OptimizerRules, AFusedOneIsNotToldToFuseOnAGpu) {
  const std::vector<Finding> findings =
      AllOnGpu("Optimizer.step#AdamW.step", true, "", "aten::_fused_adamw_");
  EXPECT_EQ(testing::FindRule(findings, "unfused-optimizer"), nullptr);
  const std::vector<Finding> norms =
      AllOnGpu("Optimizer.step#AdamW.step", true, "", "aten::_fused_rms_norm");
  EXPECT_NE(testing::FindRule(norms, "unfused-optimizer"), nullptr);
  const std::vector<Finding> groups =
      AllOnGpu("Optimizer.step#Adam.step", false, "161 2", "aten::_fused_adam_");
  EXPECT_NE(testing::FindRule(groups, "optimizer-groups"), nullptr);
}

// What recording adds to 350 operators a step makes the gain of a graph uncertain, and a graph is
// what any such loop is told.
TEST(OptimizerRules, FusingIsToldBeforeAGraphThatMaySaveLess) {
  StoreBuilder build;
  build.Property("cost.range_ns", "50.0");
  build.Property("cost.operator_ns", "2500.0");
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#Adam.step", at + 3 * kMs,
                at + 9 * kMs);
    for (int64_t k = 0; k < 350; ++k) {
      const int64_t start = at + 100'000 + k * 25'000;
      build.Operator(thread, "aten::add", start, start + 20'000);
      build.Kernel(thread, "vectorized_elementwise_kernel", start + 4000, start + 9000,
                   start + 11'000);
    }
  }
  const Store store = build.Build();
  const std::vector<Finding> findings = BuildOverview(store).findings;
  ASSERT_GE(findings.size(), 2u);
  ASSERT_NE(testing::FindRule(findings, "launch-bound"), nullptr);
  EXPECT_GT(testing::FindRule(findings, "launch-bound")->gain_ns, findings[0].gain_ns);
  EXPECT_EQ(findings[0].rule, "unfused-optimizer");
}

TEST(OptimizerRules, GroupsOfEqualOptionsAreToldBeforeFusing) {
  const std::vector<Finding> many = AllOnGpu("Optimizer.step#Adam.step", false, "161 2");
  const Finding* found = testing::FindRule(many, "optimizer-groups");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "The optimizer's parameters are in 161 groups, of which 2 differ");
  EXPECT_NEAR(found->gain_ns, 0.9 * 159 / 161 * 4 * kMs, 0.5 * kMs);
  EXPECT_EQ(testing::FindRule(many, "unfused-optimizer"), nullptr);
  // Layer-wise learning rates differ, a few groups cost little, and odd texts say nothing.
  for (const std::string_view groups : {"26 24", "6 1", "161", "161 0", "x 2", ""}) {
    const std::vector<Finding> few = AllOnGpu("Optimizer.step#Adam.step", false, groups);
    EXPECT_EQ(testing::FindRule(few, "optimizer-groups"), nullptr) << groups;
    EXPECT_NE(testing::FindRule(few, "unfused-optimizer"), nullptr) << groups;
  }
  // It may launch for each parameter, in whatever group.
  const std::vector<Finding> own = AllOnGpu("Optimizer.step#LARS.step", false, "161 2");
  EXPECT_EQ(testing::FindRule(own, "optimizer-groups"), nullptr);
  EXPECT_NE(testing::FindRule(own, "unfused-optimizer"), nullptr);
}

TEST(OptimizerRules, OneThatWaitsForEachParameterKeepsTheLoopFromRunningAhead) {
  const Finding ahead = OnGpu("Optimizer.step#LARS.step");
  const Finding waits = OnGpu("Optimizer.step#LARS.step", true);
  EXPECT_NEAR(waits.gain_ns, 0.85 * 4 * kMs, 0.1 * kMs);
  EXPECT_LT(ahead.gain_ns, 0.6 * waits.gain_ns);
  EXPECT_NE(waits.seen.find("150 times it waits for the GPU"), std::string::npos) << waits.seen;
}

// With large parameters foreach is slower.
TEST(OptimizerRules, NothingWhereTheOperatorsHaveTheirWork) {
  EXPECT_TRUE(FindingsOf({"1.13.0a0", "Optimizer.step#AdamW.step", 9'900}).empty());
}

// 20 steps of 10 ms: 2 ms of backward, of which gradients of embeddings take `filling`, and an
// optimizer of `optimizer_ns` in few operators.
std::vector<Finding> FindingsOfEmbeddings(int64_t filling_ns, int64_t optimizer_ns) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "word2vec.py"));
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Phase(thread, Phase::kBackward, "backward", at + kMs, at + 3 * kMs);
    build.Operator(thread, "aten::embedding_dense_backward", at + kMs, at + kMs + filling_ns);
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#Adam.step", at + 3 * kMs,
                at + 3 * kMs + optimizer_ns);
  }
  const Store store = build.Build();
  std::vector<Finding> findings = BuildOverview(store).findings;
  std::erase_if(findings,
                [](const Finding& finding) { return finding.rule != "dense-embedding-gradients"; });
  return findings;
}

TEST(OptimizerRules, EmbeddingsThatAreUpdatedWhole) {
  const auto findings = FindingsOfEmbeddings(kMs, 6 * kMs);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NEAR(findings[0].gain_ns, (0.9 * 7 - 0.4) * kMs, 0.05 * kMs);
  EXPECT_NE(findings[0].action.find("SparseAdam"), std::string::npos) << findings[0].action;
}

// Two large tables under a model whose backward takes its time: 1 ms of it is gradients, nearly all
// of that zeros, and of the optimizer's 5 ms as much as it takes for them.
TEST(OptimizerRules, EmbeddingsUnderALargeModelHaveTheirPartOfTheOptimizer) {
  const auto found_with = [](int64_t zeros_ns) {
    StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(7, "movies.py"));
    for (int64_t i = 0; i < 20; ++i) {
      const int64_t at = i * 10 * kMs;
      build.Range(thread, "step", at, at + 10 * kMs - 1000);
      build.Phase(thread, Phase::kBackward, "backward", at, at + 4 * kMs);
      build.Operator(thread, "aten::embedding_dense_backward", at, at + zeros_ns + 20'000);
      build.Operator(thread, "aten::zeros", at + 10'000, at + 10'000 + zeros_ns);
      build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", at + 4 * kMs,
                  at + 9 * kMs);
    }
    const auto findings = BuildOverview(build.Build()).findings;
    const Finding* found = testing::FindRule(findings, "dense-embedding-gradients");
    return found == nullptr ? 0 : found->gain_ns;
  };
  EXPECT_NEAR(found_with(kMs), 0.9 * (5 + 1.02) * kMs, 0.05 * kMs);
  EXPECT_NEAR(found_with(kMs / 4), 0.9 * (12 * 0.25 + 0.27) * kMs, 0.05 * kMs);
  EXPECT_EQ(found_with(kMs / 10), 0);
}

// The same on a GPU that is never idle: backward's kernels take 4 ms of a step, of that
// `gradient_ns` the gradients of embeddings with half of it for zeros; the optimizer's take 6 ms.
std::vector<Finding> FindingsOfGpuEmbeddings(int64_t gradient_ns, std::string_view optimizer) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "deepfm.py"));
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Phase(thread, Phase::kBackward, "backward", at, at + kMs);
    const int64_t from = at + 60'000;
    build.Operator(thread, "aten::embedding", at - 400'000, at - 390'000, i * 10);
    build.Operator(thread, "EmbeddingBackward0", at + 10'000, at + 400'000, i * 10, 1,
                   OperatorScope::kBackward);
    build.Operator(thread, "aten::embedding_dense_backward", at + 20'000, at + 300'000);
    build.Operator(thread, "aten::zero_", at + 30'000, at + 100'000);
    build.Kernel(thread, "fill", at + 50'000, from, from + gradient_ns / 2);
    build.Kernel(thread, "compute_grad_weight", at + 200'000, from + gradient_ns / 2,
                 from + gradient_ns);
    build.Operator(thread, "MmBackward0", at + 500'000, at + 600'000, i * 10 + 1, 1,
                   OperatorScope::kBackward);
    build.Kernel(thread, "gemm", at + 520'000, from + gradient_ns, at + 4 * kMs);
    build.Phase(thread, Phase::kOptimizerStep, optimizer, at + kMs, at + 2 * kMs);
    build.Kernel(thread, "multi_tensor_apply_kernel", at + kMs + 10'000, at + 4 * kMs,
                 at + 10 * kMs);
  }
  const Store store = build.Build();
  std::vector<Finding> findings = BuildOverview(store).findings;
  std::erase_if(findings,
                [](const Finding& finding) { return finding.rule != "dense-embedding-gradients"; });
  return findings;
}

TEST(OptimizerRules, EmbeddingsThatAreUpdatedWholeOnAGpu) {
  const auto findings = FindingsOfGpuEmbeddings(2 * kMs, "Optimizer.step#Adagrad.step");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NEAR(findings[0].gain_ns, 0.9 * 7 * kMs, 0.1 * kMs);
  EXPECT_NE(findings[0].action.find("Adagrad takes their gradients"), std::string::npos)
      << findings[0].action;
  EXPECT_TRUE(FindingsOfGpuEmbeddings(kMs / 10, "Optimizer.step#Adagrad.step").empty());
  // SparseAdam steps table by table.
  const auto of_adam = FindingsOfGpuEmbeddings(2 * kMs, "Optimizer.step#Adam.step");
  ASSERT_EQ(of_adam.size(), 1u);
  EXPECT_NEAR(of_adam[0].gain_ns, (0.9 * 7 - 0.4) * kMs, 0.1 * kMs);
}

// A language model: its embeddings are a part of what is updated.
TEST(OptimizerRules, EmbeddingsBesideOtherWorkAreNoFinding) {
  EXPECT_TRUE(FindingsOfEmbeddings(kMs / 10, 6 * kMs).empty());
  EXPECT_TRUE(FindingsOfEmbeddings(kMs, kMs).empty());
}

}  // namespace
}  // namespace batchlight
