// Gradients that nobody uses, forwards that backward runs again, cells in a loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// A GAN by hand: forwards in modules, and backwards in the opposite order.
class Gan {
 public:
  Gan() : thread_(build_.Thread(build_.Process(7, "gan.py"))) {
    build_.Phase(thread_, Phase::kPythonStart, "python start", 0, 0);
    build_.Property("updates.Optimizer.step#Adam.step", "G");
    build_.Property("updates.Optimizer.step#Adam.step#2", "D");
  }
  int64_t Forward(const char* module) {
    build_.Module(thread_, module, module, at_, at_ + 4 * kMs);
    build_.Operator(thread_, "aten::linear", at_ + 1000, at_ + 4 * kMs - 1000, ++sequence_);
    at_ += 4 * kMs;
    return sequence_;
  }
  void Backward(const std::vector<int64_t>& sequences) {
    build_.Phase(thread_, Phase::kBackward, "backward", at_,
                 at_ + 5 * kMs * int64_t(sequences.size()));
    for (const int64_t sequence : sequences) {
      build_.Operator(thread_, "AddmmBackward0", at_ + 1000, at_ + 5 * kMs - 1000, sequence, 1,
                      OperatorScope::kBackward);
      at_ += 5 * kMs;
    }
  }
  void Step(const char* name) {
    build_.Phase(thread_, Phase::kOptimizerStep, name, at_, at_ + kMs);
    at_ += kMs;
  }
  void ZeroGrad() {
    build_.Phase(thread_, Phase::kZeroGrad, "Optimizer.zero_grad#Adam.zero_grad", at_, at_ + 1000);
    at_ += 1000;
  }
  // detached: the generator's output in the critic's loss.
  RunOverview Train(bool detached, bool zero_grad = true) {
    for (int i = 0; i < 30; ++i) {
      if (zero_grad) ZeroGrad();
      const int64_t real = Forward("D");
      const int64_t fake = Forward("G");
      const int64_t judged = Forward("D");
      Backward(detached ? std::vector{judged, real} : std::vector{judged, real, fake});
      Step("Optimizer.step#Adam.step#2");
      if (zero_grad) ZeroGrad();
      const int64_t made = Forward("G");
      Backward({Forward("D"), made});
      Step("Optimizer.step#Adam.step");
    }
    store_ = build_.Build();
    return BuildOverview(store_);
  }

 private:
  StoreBuilder build_;
  ThreadId thread_;
  Store store_;
  int64_t at_ = kMs;
  int64_t sequence_ = 0;
};

// Adapters on a base model that was not frozen: backward of each layer passes the base's product.
std::vector<Finding> FindingsOfAdapters(std::string_view unheld, bool zeroed = true) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "lora.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  build.Property("updates.Optimizer.step#AdamW.step", "layers.0.adapter, layers.1.adapter");
  if (!unheld.empty()) build.Property("gradients.unheld", unheld);
  int64_t at = kMs, sequence = 0;
  for (int i = 0; i < 30; ++i) {
    std::vector<int64_t> made;
    for (const char* module :
         {"layers.0.adapter", "layers.0.base", "layers.1.base", "layers.1.adapter"}) {
      build.Module(thread, module, "Linear", at, at + kMs);
      build.Operator(thread, "aten::linear", at + 1000, at + kMs - 1000, ++sequence);
      made.push_back(sequence);
      at += kMs;
    }
    build.Phase(thread, Phase::kBackward, "backward", at, at + 8 * kMs);
    for (; !made.empty(); made.pop_back(), at += 2 * kMs) {
      build.Operator(thread, "AddmmBackward0", at + 1000, at + 2 * kMs - 1000, made.back(), 1,
                     OperatorScope::kBackward);
    }
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#AdamW.step", at, at + kMs);
    if (zeroed)
      build.Phase(thread, Phase::kZeroGrad, "Optimizer.zero_grad#AdamW.zero_grad", at + kMs,
                  at + kMs + 1000);
    at += 2 * kMs;
  }
  build.Phase(thread, Phase::kZeroGrad, "Optimizer.zero_grad#AdamW.zero_grad", at, at + 1000);
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

// Gradients of several batches are summed up before they are set to zero.
TEST(GradientRules, GradientsThatNoOptimizerHasCountInEveryBackward) {
  const std::vector<Finding> findings = FindingsOfAdapters("1000 layers.*.base", false);
  const Finding* found = FindRule(findings, "unheld-gradients");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.95 * 2 * kMs, 0.05 * kMs);
}

TEST(GradientRules, GradientsOfParametersThatNoOptimizerHasAreNamed) {
  const std::vector<Finding> findings =
      FindingsOfAdapters("1100048384 layers.*.base, embed, norm, head");
  const Finding* found = FindRule(findings, "unheld-gradients");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title,
            "Backward computes gradients of 1.1 billion numbers that no optimizer has");
  EXPECT_NE(found->seen.find("`layers.*.base`, `embed`, `norm` and others"), std::string::npos)
      << found->seen;
  // Half of two products of 2 ms.
  EXPECT_NEAR(found->gain_ns, 0.95 * 2 * kMs, 0.05 * kMs);
  for (const std::string_view other :
       {"", "12 layers.*.other", "layers.*.base", "12", "12 layers.0.adapter.x"})
    EXPECT_EQ(FindRule(FindingsOfAdapters(other), "unheld-gradients"), nullptr) << other;
}

TEST(GradientRules, ACriticsBackwardThatRunsIntoTheGeneratorIsNamed) {
  Gan gan;
  const RunOverview run = gan.Train(false);
  const Finding* finding = FindRule(run.findings, "unused-gradients");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("`G`, which that step does not update"), std::string::npos)
      << finding->title;
  EXPECT_NE(finding->action.find("Detach"), std::string::npos);
  ASSERT_EQ(run.steps.Main()->steps.size(), 30u);
  EXPECT_NEAR(finding->gain_ns, 0.95 * 5 * kMs, 0.1 * kMs) << finding->seen;
}

TEST(GradientRules, TheWayThroughTheCriticToTheGeneratorIsNeeded) {
  Gan gan;
  EXPECT_EQ(FindRule(gan.Train(true).findings, "unused-gradients"), nullptr);
}

TEST(GradientRules, GradientsThatStayMayBeMeantForALaterStep) {
  Gan gan;
  EXPECT_EQ(FindRule(gan.Train(false, false).findings, "unused-gradients"), nullptr);
}

class Backbone {
 public:
  explicit Backbone(const char* updated, std::string_view unheld = {})
      : thread_(build_.Thread(build_.Process(7, "tune.py"))) {
    build_.Phase(thread_, Phase::kPythonStart, "python start", 0, 0);
    if (!unheld.empty()) build_.Property("gradients.unheld", unheld);
    build_.Property("updates.Optimizer.step#SGD.step", updated);
  }
  RunOverview Train() {
    int64_t at = kMs, sequence = 0;
    for (int i = 0; i < 30; ++i, sequence += 2, at += 40 * kMs) {
      build_.Phase(thread_, Phase::kZeroGrad, "Optimizer.zero_grad#SGD.zero_grad", at, at + 1000);
      build_.Module(thread_, "Net", "Net", at + kMs, at + 10 * kMs);
      build_.Module(thread_, "body", "Sequential", at + 2 * kMs, at + 6 * kMs);
      build_.Operator(thread_, "aten::linear", at + 3 * kMs, at + 5 * kMs, sequence);
      build_.Module(thread_, "fc", "Linear", at + 7 * kMs, at + 9 * kMs);
      build_.Operator(thread_, "aten::linear", at + 7 * kMs, at + 9 * kMs, sequence + 1);
      build_.Phase(thread_, Phase::kBackward, "backward", at + 10 * kMs, at + 34 * kMs);
      build_.Operator(thread_, "AddmmBackward0", at + 11 * kMs, at + 13 * kMs, sequence + 1, 1,
                      OperatorScope::kBackward);
      build_.Operator(thread_, "AddmmBackward0", at + 14 * kMs, at + 34 * kMs, sequence, 1,
                      OperatorScope::kBackward);
      build_.Phase(thread_, Phase::kOptimizerStep, "Optimizer.step#SGD.step", at + 35 * kMs,
                   at + 36 * kMs);
    }
    store_ = build_.Build();
    return BuildOverview(store_);
  }

 private:
  StoreBuilder build_;
  ThreadId thread_;
  Store store_;
};

TEST(GradientRules, ABackboneThatNobodyStepsIsNamed) {
  Backbone loop("fc");
  const RunOverview run = loop.Train();
  const Finding* finding = FindRule(run.findings, "unused-gradients");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("`body` is no optimizer's"), std::string::npos) << finding->title;
  EXPECT_EQ(finding->patch.diff, "+model.body.requires_grad_(False)\n");
}

// To freeze one alone would leave backward on its way to the others.
TEST(GradientRules, AllPartsOfABackboneAreFrozenTogether) {
  const RunOverview run = Backbone("fc", "1200 body, conv1, blocks.*.norm").Train();
  const Finding* finding = FindRule(run.findings, "unused-gradients");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title.find("`body`, `conv1` are no optimizer's"), 0u) << finding->title;
  EXPECT_EQ(finding->patch.diff,
            "+model.body.requires_grad_(False)\n+model.conv1.requires_grad_(False)\n");
}

TEST(GradientRules, ATrainedFirstLayerNeedsTheWholeBackward) {
  Backbone loop("body");
  EXPECT_EQ(FindRule(loop.Train().findings, "unused-gradients"), nullptr);
}

// A policy that learns and a reference that stays, both of token ids. The reference is called last,
// so that its backward comes first.
RunOverview Preferences(Store& store, const char* first_of_reference) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "dpo.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  build.Property("updates.Optimizer.step#Adam.step", "policy");
  int64_t at = kMs, sequence = 0;
  const auto backward = [&](int64_t of) {
    build.Operator(thread, "Backward0", at, at + 4 * kMs, of, 1, OperatorScope::kBackward);
    at += 4 * kMs;
  };
  for (int i = 0; i < 30; ++i) {
    const int64_t policy = sequence;
    for (const char* root : {"policy", "reference"}) {
      const bool learns = sequence == policy;
      build.Module(thread, root, "GPT", at, at + 6 * kMs);
      build.Operator(thread, learns ? "aten::embedding" : first_of_reference, at + 1000,
                     at + 3 * kMs, sequence++);
      build.Operator(thread, "aten::linear", at + 3 * kMs, at + 6 * kMs - 1000, sequence++);
      at += 6 * kMs;
    }
    build.Phase(thread, Phase::kZeroGrad, "Optimizer.zero_grad#Adam.zero_grad", at, at + 1000);
    at += 1000;
    build.Phase(thread, Phase::kBackward, "backward", at, at + 16 * kMs);
    for (const int64_t of : {3, 2, 1, 0}) backward(policy + of);
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#Adam.step", at, at + kMs);
    at += kMs;
    build.Phase(thread, Phase::kZeroGrad, "Optimizer.zero_grad#Adam.zero_grad", at, at + 1000);
    at += 1000;
  }
  store = build.Build();
  return BuildOverview(store);
}

TEST(GradientRules, AReferenceModelThatIsGivenIdsNeedsNoBackward) {
  Store store;
  const RunOverview run = Preferences(store, "aten::embedding");
  const Finding* finding = FindRule(run.findings, "unused-gradients");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("`reference` is no optimizer's"), std::string::npos)
      << finding->title;
  EXPECT_NE(finding->action.find("torch.no_grad()"), std::string::npos);
  EXPECT_NEAR(finding->gain_ns, 0.95 * 8 * kMs, 0.2 * kMs) << finding->seen;
}

// A judge of what the policy makes: its gradients go on to the policy.
TEST(GradientRules, AModelThatIsGivenMoreThanIdsMayLeadToWhatLearns) {
  Store store;
  EXPECT_EQ(FindRule(Preferences(store, "aten::linear").findings, "unused-gradients"), nullptr);
}

// An optimizer's step and its zero_grad; when the next iteration begins.
int64_t StepAndZero(StoreBuilder& build, ThreadId thread, int64_t at) {
  build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#Adam.step", at, at + kMs);
  at += kMs;
  build.Phase(thread, Phase::kZeroGrad, "Optimizer.zero_grad#Adam.zero_grad", at, at + 1000);
  return at + 7 * kMs;
}

// A distiller of a teacher, which nobody updates, and a student, on images; what is called first is
// given them, the other may have its output. Backward goes through both at once. With a GPU each
// function launches 3 ms of work and adds a gradient in another.
RunOverview Distilled(Store& store, bool teacher_first, bool has_gpu) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "distill.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  build.Property("updates.Optimizer.step#Adam.step", "student");
  int64_t at = kMs, gpu = kMs, sequence = 0;
  const auto launch = [&](int64_t took_ns) {
    gpu = std::max(gpu, at + 10'000);
    if (has_gpu) build.Kernel(thread, "sm90_xmma_gemm", at + 5'000, gpu, gpu + took_ns);
    gpu += took_ns;
  };
  for (int i = 0; i < 30; ++i, sequence += 4) {
    build.Module(thread, "Distiller", "Distiller", at, at + 4 * kMs);
    for (int part = 0; part < 2; ++part) {
      const char* path = (part == 0) == teacher_first ? "teacher" : "student";
      build.Module(thread, path, "Net", at + 1000, at + 2 * kMs - 1000);
      for (const int64_t layer : {0, 1}) {
        const int64_t from = at + 2000 + layer * 900'000;
        build.Operator(thread, "aten::conv2d", from, from + 800'000, sequence + 2 * part + layer);
      }
      at += 2 * kMs;
    }
    build.Phase(thread, Phase::kBackward, "backward", at, at + 8 * kMs);
    for (const int64_t of : {3, 1, 2, 0}) {
      build.Operator(thread, "ConvolutionBackward0", at, at + 1500'000, sequence + of, 1,
                     OperatorScope::kBackward);
      launch(3 * kMs);
      at += 1600'000;
      build.Operator(thread, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                     at, at + 300'000, -1, 0, OperatorScope::kBackward);
      launch(kMs);
      at += 400'000;
    }
    at = StepAndZero(build, thread, at);
  }
  store = build.Build();
  return BuildOverview(store);
}

TEST(GradientRules, ATeacherInAModelNeedsNoBackward) {
  Store store;
  const RunOverview run = Distilled(store, true, false);
  const Finding* finding = FindRule(run.findings, "unused-gradients");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("`teacher` is no optimizer's"), std::string::npos)
      << finding->title;
  EXPECT_EQ(finding->patch.diff, "+model.teacher.requires_grad_(False)\n");
  EXPECT_NEAR(finding->gain_ns, 0.95 * 3 * kMs, 0.1 * kMs) << finding->seen;
}

// It then judges what the student makes: gradients go on from there.
TEST(GradientRules, ATeacherOfWhatTheStudentMakesIsOnTheWayToIt) {
  Store store;
  const RunOverview run = Distilled(store, false, false);
  EXPECT_EQ(FindRule(run.findings, "unused-gradients"), nullptr);
}

// Two functions of 3 ms, and two gradients that are added: 8 ms of 16 that the GPU does in a step.
TEST(GradientRules, OnAGpuItsWorkIsSavedWithItsGradients) {
  Store store;
  const RunOverview run = Distilled(store, true, true);
  const Finding* finding = FindRule(run.findings, "unused-gradients");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->seen.find("backward takes 8.00 ms"), std::string::npos) << finding->seen;
}

// A student, then a loss module that calls its teacher: two layers of it, the second one in
// `layer`, before an operator of its own. A backward function takes 2 ms. `given`: what the process
// says of modules that are given no gradient.
RunOverview TaughtInALoss(Store& store, const char* given, const char* updated, const char* layer) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "distill.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  build.Property("updates.Optimizer.step#Adam.step", updated);
  if (given != nullptr) build.Property("model.given_no_gradient", given);
  int64_t at = kMs, sequence = 0;
  for (int i = 0; i < 30; ++i, sequence += 4) {
    build.Module(thread, "student", "Net", at, at + kMs);
    build.Operator(thread, "aten::conv2d", at + 1000, at + kMs - 1000, sequence);
    build.Module(thread, "Loss", "Loss", at + kMs, at + 5 * kMs);
    build.Module(thread, "Loss.teacher", "Net", at + kMs + 1000, at + 4 * kMs);
    build.Operator(thread, "aten::conv2d", at + kMs + 2000, at + 2 * kMs, sequence + 1);
    build.Module(thread, layer, "Linear", at + 2 * kMs, at + 3 * kMs);
    build.Operator(thread, "aten::linear", at + 2 * kMs + 1000, at + 3 * kMs - 1000, sequence + 2);
    build.Operator(thread, "aten::kl_div", at + 4 * kMs + 1000, at + 5 * kMs - 1000, sequence + 3);
    at += 5 * kMs;
    build.Phase(thread, Phase::kBackward, "backward", at, at + 8 * kMs);
    for (const int64_t of : {3, 2, 1, 0}) {
      build.Operator(thread, "Backward0", at, at + 2 * kMs - 1000, sequence + of, 1,
                     OperatorScope::kBackward);
      at += 2 * kMs;
    }
    at = StepAndZero(build, thread, at);
  }
  store = build.Build();
  return BuildOverview(store);
}

TEST(GradientRules, ATeacherThatIsGivenNoGradientNeedsNoBackwardWhereverItIsCalled) {
  Store store;
  const RunOverview run =
      TaughtInALoss(store, "student\nLoss.teacher", "student", "Loss.teacher.fc");
  const Finding* finding = FindRule(run.findings, "unused-gradients");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("`Loss.teacher` is no optimizer's"), std::string::npos)
      << finding->title;
  EXPECT_EQ(finding->patch.diff,
            "-reference = reference_model(ids)\n"
            "+with torch.no_grad(): reference = reference_model(ids)\n")
      << "`Loss` is a class, no variable of the program";
  // Not what the loss computes of the student's output.
  EXPECT_NEAR(finding->gain_ns, 0.95 * 4 * kMs, 0.1 * kMs) << finding->seen;
}

TEST(GradientRules, ALayerOfATeacherMayBeGivenNone) {
  Store store;
  const RunOverview run = TaughtInALoss(store, "Loss.teacher.fc", "student", "Loss.teacher.fc");
  const Finding* finding = FindRule(run.findings, "unused-gradients");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("`Loss.teacher.fc` is no optimizer's"), std::string::npos)
      << finding->title;
  EXPECT_NEAR(finding->gain_ns, 0.95 * 2 * kMs, 0.1 * kMs) << finding->seen;
}

TEST(GradientRules, WhatIsGivenAGradientOrCallsWhatLearnsIsOnTheWay) {
  for (const char* given :
       {static_cast<const char*>(nullptr), "student", "Loss.teache", "Loss.teacher2"}) {
    Store store;
    const RunOverview run = TaughtInALoss(store, given, "student", "Loss.teacher.fc");
    EXPECT_EQ(FindRule(run.findings, "unused-gradients"), nullptr) << given;
  }
  for (const char* learns : {"Loss.teacher.fc", "adapter"}) {
    Store store;
    const std::string updated = std::string("student, ") + learns;
    const RunOverview run = TaughtInALoss(store, "student\nLoss.teacher", updated.c_str(), learns);
    EXPECT_EQ(FindRule(run.findings, "unused-gradients"), nullptr) << learns;
  }
}

// Two blocks; the first is checkpointed: backward calls it again.
RunOverview Checkpointed(Store& store) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  int64_t at = kMs, sequence = 0;
  for (int i = 0; i < 30; ++i, sequence += 2, at += 40 * kMs) {
    build.Module(thread, "Net", "Net", at, at + 10 * kMs);
    build.Module(thread, "block", "Block", at + kMs, at + 7 * kMs);
    build.Module(thread, "block.fc", "Linear", at + kMs, at + 6 * kMs);
    build.Operator(thread, "aten::linear", at + 2 * kMs, at + 5 * kMs, sequence);
    build.Phase(thread, Phase::kBackward, "backward", at + 10 * kMs, at + 30 * kMs);
    build.Operator(thread, "AddmmBackward0", at + 11 * kMs, at + 29 * kMs, sequence, 1,
                   OperatorScope::kBackward);
    build.Module(thread, "block", "Block", at + 12 * kMs, at + 18 * kMs);
    build.Module(thread, "block.fc", "Linear", at + 13 * kMs, at + 17 * kMs);
    build.Operator(thread, "aten::linear", at + 14 * kMs, at + 16 * kMs, sequence + 1);
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", at + 31 * kMs,
                at + 32 * kMs);
  }
  store = build.Build();
  return BuildOverview(store);
}

TEST(RecomputedForward, IsNeitherForwardNorBackwardOfItsModule) {
  Store store;
  const RunOverview run = Checkpointed(store);
  ASSERT_EQ(run.modules.rows.size(), 3u) << "no rows of their own";
  EXPECT_TRUE(run.modules.has_recompute);
  const ModuleRow& block = run.modules.rows[1];
  EXPECT_EQ(block.path, "block");
  EXPECT_EQ(block.calls, 30u);
  EXPECT_EQ(block.recomputed_calls, 30u);
  EXPECT_EQ(block.total_ns, 30 * 6 * kMs);
  EXPECT_EQ(block.recompute_ns, 30 * 6 * kMs);
  EXPECT_EQ(block.recompute_self_ns, 30 * 2 * kMs);
  EXPECT_EQ(block.backward_ns, 30 * (18 - 6) * kMs);
  EXPECT_DOUBLE_EQ(block.recompute_per_step_ns, 6 * kMs);
}

TEST(RecomputedForward, IsNamedWithItsTime) {
  Store store;
  const RunOverview run = Checkpointed(store);
  const Finding* finding = FindRule(run.findings, "recomputed-forward");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("the forward of `block` again, for 15 % of a step"),
            std::string::npos)
      << finding->title;
  EXPECT_NEAR(finding->gain_ns, 0.95 * 6 * kMs, 0.1 * kMs);
}

// Blocks of 40 elementwise operators of 0.25 ms on the GPU, before a product of 2 ms that backward
// launches too: in a step of 40 ms the GPU works 24.
std::vector<Finding> FindingsOfCheckpointedOnGpu(bool checkpointed) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t begin = kMs + i * 40 * kMs, sequence = i * 100;
    const auto block = [&](int64_t at) {
      build.Module(thread, "block", "Block", at, at + 11 * kMs);
      for (int64_t k = 0; k < 40; ++k) {
        const int64_t start = at + k * kMs / 4;
        build.Operator(thread, "aten::mul", start, start + 200'000, sequence + k);
        build.Kernel(thread, "void at::native::vectorized_elementwise_kernel<4, Mul>", start + 1000,
                     start + 5000, start + kMs / 4 + 4000);
      }
    };
    const auto product = [&](std::string_view name, int64_t at, OperatorScope scope) {
      build.Operator(thread, name, at, at + 900'000, sequence + 50, 1, scope);
      build.Kernel(thread, "nvjet_hsh_128", at + 1000, at + 50'000, at + 2 * kMs);
    };
    build.Module(thread, "Net", "Net", begin, begin + 13 * kMs);
    block(begin);
    product("aten::linear", begin + 11 * kMs, OperatorScope::kFunction);
    build.Phase(thread, Phase::kBackward, "backward", begin + 14 * kMs, begin + 37 * kMs);
    product("AddmmBackward0", begin + 15 * kMs, OperatorScope::kBackward);
    build.Operator(thread, "MulBackward0", begin + 18 * kMs, begin + 36 * kMs, sequence, 1,
                   OperatorScope::kBackward);
    if (checkpointed) block(begin + 20 * kMs);
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", begin + 38 * kMs,
                begin + 39 * kMs);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

// What fusing saves of it is no gain of its own.
TEST(RecomputedForward, OnAGpuGainsWhatItsWorkTakesAsFarAsTheCpuIsSpared) {
  const auto findings = FindingsOfCheckpointedOnGpu(true);
  const Finding* found = FindRule(findings, "recomputed-forward");
  ASSERT_NE(found, nullptr);
  // 10 ms of 24, of a step of 40 ms; the CPU is in it for 11 ms.
  EXPECT_NEAR(found->gain_ns, 0.95 * 11 * kMs, 0.4 * kMs);
  const Finding* pointwise = FindRule(findings, "unfused-pointwise");
  const auto without = FindingsOfCheckpointedOnGpu(false);
  const Finding* same = FindRule(without, "unfused-pointwise");
  ASSERT_NE(pointwise, nullptr);
  ASSERT_NE(same, nullptr);
  // Of the GPU that is busier by 24 / 14.
  EXPECT_NEAR(pointwise->gain_ns, same->gain_ns * 24 / 14, 0.2 * kMs);
}

// A network that calls its cell for each of `times` time steps.
RunOverview Recurrent(Store& store, int times, std::string_view fed_back = "",
                      std::string_view cell = "LSTMCell", std::string_view torch = "") {
  StoreBuilder build;
  if (!torch.empty()) build.Property("torch.version", torch);
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId thread = build.Thread(process);
  if (!fed_back.empty()) build.Property("model.cells_fed_back", fed_back, process);
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  int64_t at = kMs;
  for (int i = 0; i < 30; ++i, at += 60 * kMs) {
    build.Module(thread, "Net", "Net", at, at + 31 * kMs);
    for (int t = 0; t < times; ++t) {
      build.Module(thread, "cell", cell, at + t * kMs, at + t * kMs + kMs - 1000);
    }
    build.Phase(thread, Phase::kBackward, "backward", at + 31 * kMs, at + 50 * kMs);
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", at + 51 * kMs,
                at + 52 * kMs);
  }
  store = build.Build();
  return BuildOverview(store);
}

TEST(CellsInALoop, AreNamedFromManyCallsInAForwardOn) {
  Store many, few;
  const RunOverview run = Recurrent(many, 30);
  const Finding* finding = FindRule(run.findings, "cells-in-a-loop");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("`cell` is called 30.0 times a step"), std::string::npos)
      << finding->title;
  EXPECT_NE(finding->action.find("nn.LSTM"), std::string::npos);
  EXPECT_EQ(FindRule(Recurrent(few, 4).findings, "cells-in-a-loop"), nullptr);
  Store fed_back;  // what a step gives is part of the next one's input
  EXPECT_EQ(FindRule(Recurrent(fed_back, 30, "other\ncell").findings, "cells-in-a-loop"), nullptr);
}

// On the CPU: cells of a millisecond.
TEST(CellsInALoop, GainByWhatTheLayerIsMadeOf) {
  const auto share = [](std::string_view cell, std::string_view torch) {
    Store store;
    const RunOverview run = Recurrent(store, 30, "", cell, torch);
    const Finding* found = FindRule(run.findings, "cells-in-a-loop");
    return found == nullptr ? 0 : found->gain_ns / (30 * kMs);
  };
  EXPECT_NEAR(share("LSTMCell", "2.11.0"), 0.3 + 0.55 * 0.19, 0.02) << "oneDNN";
  EXPECT_NEAR(share("LSTMCell", "1.13.0"), 0.3, 0.02);
  EXPECT_NEAR(share("GRUCell", "2.11.0"), 0.1, 0.01) << "a loop over the same operators";
}

// The same of a loop that calls the whole network for each, and its loss.
RunOverview CalledForEachTimeStep(Store& store, int times, int micro_batches) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  int64_t at = kMs;
  for (int i = 0; i < 30; ++i) {
    for (int part = 0; part < micro_batches; ++part, at += 19 * kMs) {
      for (int t = 0; t < times; ++t, at += kMs) {
        build.Module(thread, "Net", "Net", at, at + kMs / 2);
        build.Module(thread, "cell", "GRUCell", at + 1000, at + kMs / 4);
        build.Module(thread, "CrossEntropyLoss", "CrossEntropyLoss", at + kMs / 2, at + kMs - 1000);
      }
      build.Phase(thread, Phase::kBackward, "backward", at, at + 19 * kMs);
    }
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", at + kMs, at + 2 * kMs);
    at += 3 * kMs;
  }
  store = build.Build();
  return BuildOverview(store);
}

TEST(CellsInALoop, MayBeOfAModelThatIsCalledForEachTimeStep) {
  Store store, summed;
  const RunOverview run = CalledForEachTimeStep(store, 30, 1);
  const Finding* finding = FindRule(run.findings, "cells-in-a-loop");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("`cell` is called 30.0 times a step"), std::string::npos);
  EXPECT_NEAR(finding->gain_ns, 0.3 * 30 * kMs, 0.5 * kMs) << "with all that the loop calls";
  // A cell in each of many micro-batches is no loop over time.
  EXPECT_EQ(FindRule(CalledForEachTimeStep(summed, 1, 16).findings, "cells-in-a-loop"), nullptr);
}

}  // namespace
}  // namespace batchlight
