// Gradients that a critic's loss is made of.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// Thirty steps of 20 ms: forward 4, torch.autograd.grad 4, backward 10 of which 6 go back through
// those, if anything does; a function of that name calls it.
Finding OfCritic(const char* function, bool goes_back = true) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "gan.py"));
  Store& store = build.store();
  store.python_frames.Append({.file = build.Text("/home/u/gan.py"),
                              .function = build.Text(function),
                              .first_line = 10,
                              .line = 14});
  store.python_stacks.Append({.frame = PythonFrameId::At(0)});
  int64_t number = 0;
  for (int64_t i = 0, t = kMs; i < 30; ++i, t += 20 * kMs) {
    build.Operator(thread, "aten::linear", t, t + 4 * kMs, ++number);
    build.Phase(thread, Phase::kBackward, "torch.autograd.grad", t + 4 * kMs, t + 8 * kMs);
    build.Operator(thread, "AddmmBackward0", t + 4 * kMs + 1000, t + 8 * kMs - 1000, number, 1,
                   OperatorScope::kBackward);
    build.Operator(thread, "aten::mm", t + 5 * kMs, t + 7 * kMs, number + 1);
    store.python_samples.Append({.start_ns = t + 4 * kMs,
                                 .end_ns = t + 8 * kMs - 2000,
                                 .thread = thread,
                                 .python_stack = PythonStackId::At(0),
                                 .samples = 2});
    build.Phase(thread, Phase::kBackward, "torch.autograd.backward", t + 8 * kMs, t + 18 * kMs);
    if (goes_back) {
      build.Operator(thread, "MmBackward0", t + 8 * kMs + 1000, t + 14 * kMs, number + 1, 1,
                     OperatorScope::kBackward);
    }
    build.Operator(thread, "AddmmBackward0", t + 14 * kMs + 1000, t + 18 * kMs, number, 1,
                   OperatorScope::kBackward);
    ++number;
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#Adam.step", t + 18 * kMs,
                t + 20 * kMs);
  }
  const Store built = build.Build();
  const RunOverview run = BuildOverview(built);
  const Finding* found = FindRule(run.findings, "gradient-penalty");
  return found == nullptr ? Finding{} : *found;
}

TEST(PenaltyRules, AGradientPenaltyOfEachStepIsNamed) {
  const Finding found = OfCritic("Critic.gradient_penalty");
  EXPECT_EQ(found.title,
            "`Critic.gradient_penalty` (gan.py:14): a gradient penalty takes 50 % of a step");
  EXPECT_NEAR(found.gain_ns, 10 * kMs * 15 / 16.0, 0.1 * kMs);
  EXPECT_NE(found.action.find("every 16th step"), std::string::npos) << found.action;
  EXPECT_NE(found.patch.diff.find("gradient_penalty(...)"), std::string::npos) << found.patch.diff;
  for (const char* name : {"compute_gp", "r1_loss", "d_r1", "lipschitz_term"}) {
    EXPECT_GT(OfCritic(name).gain_ns, 0) << name;
  }
}

// A loss that is made of gradients cannot do without them.
TEST(PenaltyRules, OtherGradientsOfALossAreNoPenalty) {
  for (const char* name : {"residual", "forces", "inner_loop", "gpu_step", "PINN.loss", "agp1"}) {
    EXPECT_EQ(OfCritic(name).gain_ns, 0) << name;
  }
  EXPECT_EQ(OfCritic("gradient_penalty", false).gain_ns, 0) << "nothing goes back through it";
}

}  // namespace
}  // namespace batchlight
