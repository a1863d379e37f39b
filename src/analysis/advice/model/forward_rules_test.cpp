// Rules about forwards that could be fewer or larger, and about updates by hand.
#include <gtest/gtest.h>

#include <string>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

class Loop {
 public:
  Loop() : thread_(build_.Thread(build_.Process(7, "train.py"))) {
    build_.Phase(thread_, Phase::kPythonStart, "python start", 0, 0);
  }
  // A forward of two operators in a module, and its backward.
  void Learn(int64_t ns, const char* module = "Student") {
    build_.Module(thread_, module, module, at_, at_ + ns);
    build_.Operator(thread_, "aten::linear", at_ + 1000, at_ + ns / 2, sequence_);
    build_.Operator(thread_, "aten::relu", at_ + ns / 2, at_ + ns, sequence_ + 1);
    at_ += ns;
    build_.Phase(thread_, Phase::kBackward, "backward", at_, at_ + ns);
    build_.Operator(thread_, "AddmmBackward0", at_ + 1000, at_ + ns - 1000, sequence_, 1,
                    OperatorScope::kBackward);
    at_ += ns;
    sequence_ += 2;
  }
  // The same on a GPU, which idles most of the time.
  void LearnOnGpu(int64_t ns) {
    const int64_t begin_ns = at_;
    Learn(ns);
    for (int64_t launch_ns = begin_ns + 2000; launch_ns < at_ - 30'000; launch_ns += 40'000) {
      build_.Kernel(thread_, "nvjet_hsh_128", launch_ns, launch_ns + 8'000, launch_ns + 12'000);
    }
  }
  void HasMemory(const std::string& bytes, const std::string& reserved_bytes) {
    build_.Property("torch.gpu_memory_bytes", bytes);
    build_.Property("torch.peak_reserved_bytes", reserved_bytes);
  }
  // The same with a part of `ms` in front, whose operators have numbers if it runs with gradients;
  // `function` calls it, which has a number.
  void LearnBehind(int64_t ms, bool without_gradients, const char* function = nullptr) {
    build_.Module(thread_, "Student", "Student", at_, at_ + (ms + 4) * kMs);
    if (function != nullptr) {
      build_.Operator(thread_, function, at_ + 500, at_ + ms * kMs - 100, sequence_);
    }
    build_.Module(thread_, "Student.encoder", "Encoder", at_ + 1000, at_ + ms * kMs);
    build_.Operator(thread_, "aten::conv2d", at_ + 2000, at_ + ms * kMs - 1000,
                    without_gradients ? -1 : sequence_);
    build_.Operator(thread_, "aten::linear", at_ + ms * kMs, at_ + (ms + 4) * kMs, sequence_ + 1);
    at_ += (ms + 4) * kMs;
    build_.Phase(thread_, Phase::kBackward, "backward", at_, at_ + kMs);
    build_.Operator(thread_, "AddmmBackward0", at_ + 1000, at_ + kMs - 1000, sequence_ + 1, 1,
                    OperatorScope::kBackward);
    at_ += kMs;
    sequence_ += 2;
  }
  // As LearnBehind without gradients, under autocast.
  void LearnBehindCasts(int64_t ms) {
    build_.Operator(thread_, "aten::to", at_ + 1100, at_ + 1900, sequence_);
    build_.Operator(thread_, "aten::_to_copy", at_ + 1200, at_ + 1800, sequence_);
    ++sequence_;
    LearnBehind(ms, true);
  }
  void Teach(int64_t ms, bool without_gradients) {
    build_.Module(thread_, "Teacher", "Teacher", at_, at_ + ms * kMs);
    if (without_gradients) {
      build_.Phase(thread_, Phase::kEvaluationCall, "eval, no_grad", at_ + 1, at_ + ms * kMs - 1);
    }
    build_.Operator(thread_, "aten::conv2d", at_ + 1000, at_ + ms * kMs - 1000);
    at_ += ms * kMs;
  }
  // A forward that autograd follows, without a backward.
  void LookAt(const char* module, int64_t ms) {
    build_.Module(thread_, module, module, at_, at_ + ms * kMs);
    build_.Operator(thread_, "aten::linear", at_ + 1000, at_ + ms * kMs - 1000, sequence_++);
    at_ += ms * kMs;
  }
  // Followed operators around `name`, which is or is not; and its backward.
  void LearnAround(const char* name, bool followed) {
    build_.Module(thread_, "Student", "Student", at_, at_ + 12 * kMs);
    build_.Operator(thread_, "aten::cdist", at_ + 1000, at_ + 2 * kMs, sequence_);
    build_.Operator(thread_, name, at_ + 2 * kMs, at_ + 6 * kMs, sequence_);
    sequence_ += followed;
    build_.Operator(thread_, "aten::linear", at_ + 6 * kMs, at_ + 12 * kMs - 1000, sequence_++);
    at_ += 12 * kMs;
    build_.Phase(thread_, Phase::kBackward, "backward", at_, at_ + 6 * kMs);
    build_.Operator(thread_, "AddmmBackward0", at_ + 1000, at_ + 6 * kMs - 1000, sequence_ - 1, 1,
                    OperatorScope::kBackward);
    at_ += 6 * kMs;
  }
  // A model that calls its net twice, the first time as a whole without gradients.
  // Between them it asks for gradients.
  void LearnAfterAMetric() {
    build_.Module(thread_, "Meta", "Meta", at_, at_ + 12 * kMs + 6 * kMs);
    build_.Module(thread_, "Meta.net", "Net", at_ + 1000, at_ + 6 * kMs - 1000);
    build_.Operator(thread_, "aten::conv2d", at_ + 2000, at_ + 6 * kMs - 2000);
    build_.Operator(thread_, "autograd::engine::evaluate_function: MmBackward0", at_ + 6 * kMs,
                    at_ + 12 * kMs - 1000);
    build_.Operator(thread_, "MmBackward0", at_ + 6 * kMs + 1000, at_ + 12 * kMs - 2000,
                    sequence_ - 1, 1, OperatorScope::kBackward);
    at_ += 6 * kMs;
    build_.Module(thread_, "Meta.net", "Net", at_ + 6 * kMs, at_ + 12 * kMs - 1000);
    build_.Operator(thread_, "aten::conv2d", at_ + 6 * kMs, at_ + 12 * kMs - 2000, sequence_++);
    at_ += 12 * kMs;
    build_.Phase(thread_, Phase::kBackward, "backward", at_, at_ + 6 * kMs);
    build_.Operator(thread_, "ConvolutionBackward0", at_ + 1000, at_ + 6 * kMs - 1000,
                    sequence_ - 1, 1, OperatorScope::kBackward);
    at_ += 6 * kMs;
  }
  void Multiply(int64_t ns) {
    build_.Operator(thread_, "aten::mm", at_, at_ + ns);
    at_ += ns;
  }
  void Update() {
    build_.Phase(thread_, Phase::kOptimizerStep, "Optimizer.step#SGD.step", at_, at_ + kMs);
    at_ += kMs;
  }
  // Updates of eight parameters.
  void UpdateByHand(const char* write) {
    for (int i = 0; i < 8; ++i, at_ += kMs) {
      build_.Operator(thread_, "aten::mul", at_, at_ + kMs / 2);
      build_.Operator(thread_, write, at_ + kMs / 2, at_ + kMs - 1000);
    }
  }
  // Looks at the machine: the thread has no processor for this part of the time.
  void Waits(double part) {
    build_.store().threads.tid[thread_.row()] = 7;
    for (int64_t at_ns = 0; at_ns <= at_ + 100 * kMs; at_ns += 10 * kMs) {
      build_.store().process_usage.Append({.start_ns = at_ns,
                                           .process = ProcessId::At(0),
                                           .user_ns = at_ns / 5,
                                           .first_ran_ns = at_ns / 5,
                                           .first_waited_ns = int64_t(part * double(at_ns)),
                                           .processors = 2});
      build_.store().machine_usage.Append(
          {.start_ns = at_ns, .processors = 2, .busy_ns = 2 * at_ns});
    }
  }
  void Draw(const char* name) {
    build_.Operator(thread_, name, at_, at_ + 1000);
    at_ += 2000;
  }
  void Say(const char* key, const char* value) { build_.Property(key, value); }
  RunOverview Run() {
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

TEST(ForwardRules, ATeacherThatRunsInEveryStepIsNamed) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.Teach(20, true);
    loop.Learn(4 * kMs);
    loop.Update();
  }
  const RunOverview run = loop.Run();
  const Finding* found = FindRule(run.findings, "frozen-forward");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->title.find("`Teacher`"), std::string::npos) << found->title;
}

// Answers to samples that are cropped and flipped anew cannot be kept.
TEST(ForwardRules, OfATeacherWhoseSamplesChangeNothingIsGained) {
  for (const auto& [drawn, gains] : {std::pair{"aten::rand", false}, {"aten::randint", true}}) {
    Loop loop;
    for (int i = 0; i < 30; ++i) {
      loop.Draw(drawn);
      loop.Teach(20, true);
      loop.Learn(4 * kMs);
      loop.Update();
    }
    const RunOverview run = loop.Run();
    const Finding* found = FindRule(run.findings, "frozen-forward");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->has_gain(), gains) << drawn;
    EXPECT_EQ(found->action.starts_with("Compute its answers once"), gains) << found->action;
  }
}

TEST(ForwardRules, AFrozenPartOfAModelThatLearnsIsNamed) {
  for (const bool without_gradients : {true, false}) {
    Loop loop;
    for (int i = 0; i < 30; ++i) {
      loop.LearnBehind(20, without_gradients);
      loop.Update();
    }
    const RunOverview run = loop.Run();
    const Finding* found = FindRule(run.findings, "frozen-forward");
    ASSERT_EQ(found != nullptr, without_gradients);
    if (found == nullptr) continue;
    EXPECT_NE(found->title.find("`Student.encoder`"), std::string::npos) << found->title;
  }
}

// Autocast casts weights with gradients on, also under torch.no_grad().
TEST(ForwardRules, CastsOfWeightsDoNotMakeAForwardFollowed) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.LearnBehindCasts(20);
    loop.Update();
  }
  const RunOverview run = loop.Run();
  EXPECT_EQ(FindRule(run.findings, "unused-forward"), nullptr);
  EXPECT_NE(FindRule(run.findings, "frozen-forward"), nullptr);
}

TEST(ForwardRules, WhatAFunctionWithItsOwnBackwardCallsIsNotFrozen) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.LearnBehind(20, true, "CompiledFunction");
    loop.Update();
  }
  EXPECT_EQ(FindRule(loop.Run().findings, "frozen-forward"), nullptr);
}

TEST(ForwardRules, AModuleThatOnlyHasNoRecordedBackwardIsNotCalledFrozen) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.Teach(20, false);
    loop.Learn(4 * kMs);
    loop.Update();
  }
  const RunOverview run = loop.Run();
  EXPECT_EQ(FindRule(run.findings, "frozen-forward"), nullptr);
}

TEST(ForwardRules, AForwardThatNoBackwardComesBackToIsNamed) {
  struct Case {
    const char* module;
    const char* action;
    double gain_ns;
  };
  for (const Case& one : {Case{"Teacher", "compute it once", 0.7 * 8 * kMs},
                          Case{"Student", "outputs.detach()", 0.85 * 8 * kMs}}) {
    Loop loop;
    for (int i = 0; i < 30; ++i) {
      loop.Learn(4 * kMs);
      loop.LookAt(one.module, 8);
      loop.Update();
    }
    const RunOverview run = loop.Run();
    const Finding* found = FindRule(run.findings, "unused-forward");
    ASSERT_NE(found, nullptr) << one.module;
    EXPECT_NE(found->title.find("1 call of `" + std::string(one.module)), std::string::npos)
        << found->title;
    EXPECT_NE(found->action.find(one.action), std::string::npos) << found->action;
    EXPECT_NEAR(found->gain_ns, one.gain_ns, 0.05 * one.gain_ns);  // 29 of 30 are seen
  }
}

// A generator's output, detached, in a critic's loss: only the graph is for nothing.
TEST(ForwardRules, AForwardThatAnotherModelMayUseIsNotForNothing) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.LookAt("Student", 8);
    loop.Learn(4 * kMs);
    loop.Learn(4 * kMs, "Critic");
    loop.Update();
  }
  const RunOverview run = loop.Run();
  const Finding* found = FindRule(run.findings, "unused-forward");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->action.find("torch.no_grad()"), std::string::npos) << found->action;
  EXPECT_NEAR(found->gain_ns, 0.1 * 8 * kMs, 0.01 * kMs);
}

TEST(ForwardRules, AForwardWithABackwardIsUsed) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.Learn(4 * kMs);
    loop.Learn(4 * kMs);
    loop.Teach(20, true);
    loop.Update();
  }
  EXPECT_EQ(FindRule(loop.Run().findings, "unused-forward"), nullptr);
}

TEST(ForwardRules, AFactorizationThatNothingLearnsIntoIsNamed) {
  const auto gain_ns = [](const char* name, bool followed) {
    Loop loop;
    for (int i = 0; i < 30; ++i) {
      loop.LearnAround(name, followed);
      loop.Update();
    }
    const RunOverview run = loop.Run();
    const Finding* found = FindRule(run.findings, "unlearned-work");
    if (found == nullptr) return 0.0;
    EXPECT_NE(found->title.find("`Student` factorizes"), std::string::npos) << found->title;
    return found->gain_ns;
  };
  EXPECT_NEAR(gain_ns("aten::linalg_cholesky_ex", false), 0.95 * 6 * kMs, 0.01 * kMs);
  EXPECT_EQ(gain_ns("aten::linalg_cholesky_ex", true), 0) << "of what learns";
  EXPECT_EQ(gain_ns("aten::linalg_vector_norm", false), 0) << "of the batch, most often";
}

TEST(ForwardRules, WorkWithoutAGradientIsNamedWhereItIsLong) {
  const auto gain_ns = [](bool followed) {
    Loop loop;
    for (int i = 0; i < 30; ++i) {
      loop.LearnAround("aten::mm", followed);
      loop.Update();
    }
    const RunOverview run = loop.Run();
    const Finding* found = FindRule(run.findings, "work-without-gradient");
    return found == nullptr ? 0.0 : found->gain_ns;
  };
  EXPECT_GT(gain_ns(false), 0.9 * 5 * kMs);
  EXPECT_EQ(gain_ns(true), 0) << "of what learns";
}

// It was to be computed once, before the loop: the model, of each batch (MAML's accuracies).
TEST(ForwardRules, AWholeForwardWithoutGradientsIsNotTheSameInEveryStep) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.LearnAfterAMetric();
    loop.Update();
  }
  EXPECT_EQ(FindRule(loop.Run().findings, "work-without-gradient"), nullptr);
}

TEST(ForwardRules, ManySmallBatchesOfOneUpdateAreSaid) {
  const auto found = [](int64_t ns, int micro_batches) {
    Loop loop;
    for (int i = 0; i < 12; ++i) {
      for (int k = 0; k < micro_batches; ++k) loop.Learn(ns);
      loop.Update();
    }
    return FindRule(loop.Run().findings, "small-micro-batches") != nullptr;
  };
  EXPECT_TRUE(found(50'000, 64));
  EXPECT_FALSE(found(kMs, 64)) << "of large operators";
  EXPECT_FALSE(found(50'000, 4)) << "four";
}

TEST(ForwardRules, FewBatchesOfOneUpdateAreSaidWhereAllFitTheGpu) {
  const auto action = [](const std::string& reserved_bytes) {
    Loop loop;
    loop.HasMemory("150000000000", reserved_bytes);
    for (int i = 0; i < 12; ++i) {
      for (int k = 0; k < 4; ++k) loop.LearnOnGpu(2 * kMs);
      loop.Update();
    }
    const RunOverview run = loop.Run();
    const Finding* found = FindRule(run.findings, "small-micro-batches");
    return found == nullptr ? "" : found->action + found->patch.diff;
  };
  const std::string fits = action("10000000000");
  EXPECT_NE(fits.find("as one batch"), std::string::npos) << fits;
  EXPECT_NE(fits.find("batch_size=4 * n), accumulation = 1"), std::string::npos) << fits;
  EXPECT_EQ(action("30000000000"), "") << "four times as much is more than half of it";
}

// Batches of one on a machine on which others take turns: operators are as small as ever, and steps
// of different length say nothing of the size of batches.
TEST(ForwardRules, SmallBatchesAreSmallOnABusyMachineToo) {
  Loop loop;
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 64; ++k) loop.Learn(i % 2 == 0 ? 150'000 : 450'000);
    loop.Update();
  }
  loop.Waits(0.8);
  const RunOverview run = loop.Run();
  EXPECT_EQ(FindRule(run.findings, "padding"), nullptr);
  const Finding* found = FindRule(run.findings, "small-micro-batches");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("without what they wait for a processor"), std::string::npos)
      << found->seen;
}

TEST(SizeRules, PaddingBeyondTheLongestOfABatchIsSaid) {
  const auto gain_ns = [](const char* beyond) {
    Loop loop;
    for (int i = 0; i < 12; ++i) {
      loop.Learn(4 * kMs);
      loop.Update();
    }
    loop.Say("data.padding", "0.9");
    loop.Say("data.padding_beyond_longest", beyond);
    const RunOverview run = loop.Run();
    const Finding* found = FindRule(run.findings, "padding-to-one-length");
    return found == nullptr ? 0 : found->gain_ns;
  };
  EXPECT_NEAR(gain_ns("0.75"), 0.75 * 8 * kMs, 0.1 * kMs);
  EXPECT_EQ(gain_ns("0.1"), 0);
}

TEST(SizeRules, AMatrixOfZerosThatIsMultipliedIsSaid) {
  const auto gain_ns = [](const char* zeros) {
    Loop loop;
    for (int i = 0; i < 12; ++i) {
      loop.Learn(4 * kMs);
      loop.Multiply(8 * kMs);
      loop.Multiply(kMs);  // by a weight
      loop.Update();
    }
    loop.Say("data.zeros", zeros);
    loop.Say("data.zeros_shape", "5000 x 4000");
    const RunOverview run = loop.Run();
    const Finding* found = FindRule(run.findings, "sparse-as-dense");
    if (found == nullptr) return 0.0;
    EXPECT_NE(found->title.find("5000 x 4000"), std::string::npos) << found->title;
    return found->gain_ns;
  };
  EXPECT_NEAR(gain_ns("0.9987"), 0.95 * 8 * kMs, 0.1 * kMs);
  EXPECT_EQ(gain_ns("0.9"), 0);
}

TEST(OptimizerRules, AnUpdateByHandIsTheOptimizersPhase) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.Learn(4 * kMs);
    loop.UpdateByHand("aten::sub_");
  }
  const RunOverview run = loop.Run();
  const Finding* found = FindRule(run.findings, "update-by-hand");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.7 * 8 * kMs, 0.6 * kMs);
}

TEST(OptimizerRules, WhatWritesNothingBehindABackwardIsNoUpdate) {
  Loop loop;
  for (int i = 0; i < 30; ++i) {
    loop.Learn(4 * kMs);
    loop.UpdateByHand("aten::add");
  }
  const RunOverview run = loop.Run();
  EXPECT_EQ(FindRule(run.findings, "update-by-hand"), nullptr);
}

}  // namespace
}  // namespace batchlight
