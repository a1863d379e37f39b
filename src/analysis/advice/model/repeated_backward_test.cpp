// Backward of one loss after another through what they share.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// A trunk and two heads, each with a loss. Forward 2 ms and backward 4 ms each, on the CPU; with a
// GPU the kernels of the same time.
class TwoTasks {
 public:
  explicit TwoTasks(bool gpu = false) : gpu_(gpu) {}

  void Forward() {
    for (int part = 0; part < 3; ++part) Add("aten::linear", ++sequence_, 2 * kMs, false);
  }
  // 0 the trunk, 1 and 2 the heads of the last forward.
  void Backward(const std::vector<int>& parts) {
    build_.Phase(thread_, Phase::kBackward, "backward", at_, at_ + int64_t(parts.size()) * 4 * kMs);
    for (const int part : parts) Add("AddmmBackward0", sequence_ - 2 + part, 4 * kMs, true);
  }
  // An operator that backward makes a node of the graph with.
  void MakeGraphInBackward() {
    build_.Operator(thread_, "aten::mul", at_ - kMs, at_ - kMs / 2, ++sequence_);
    Add("MulBackward0", sequence_, kMs, true);
    sequence_ -= 1;
  }
  // As many forwards of the trunk alone as have been, the last first; each gives its state to the
  // next.
  void BackwardThrough(int windows) {
    build_.Phase(thread_, Phase::kBackward, "backward", at_, at_ + windows * 4 * kMs);
    build_.store().python_samples.Append({.start_ns = at_,
                                          .end_ns = at_ + windows * 4 * kMs - 1000,
                                          .thread = thread_,
                                          .python_stack = PythonStackId::At(0),
                                          .samples = 4});
    for (int back = 0; back < windows; ++back)
      Add("AddmmBackward0", sequence_ - back, 4 * kMs, true);
  }
  void Window() { Add("aten::linear", ++sequence_, 2 * kMs, false); }
  void NameCaller() {
    build_.store().python_frames.Append({.file = build_.Text("/home/u/train.py"),
                                         .function = build_.Text("windows"),
                                         .first_line = 40,
                                         .line = 46});
    build_.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  }
  void Step(const char* name = "Optimizer.step#SGD.step") {
    build_.Phase(thread_, Phase::kOptimizerStep, name, at_, at_ + kMs);
    at_ += kMs;
  }
  const Finding* Find() {
    store_ = build_.Build();
    run_ = BuildOverview(store_);
    EXPECT_EQ(run_.steps.Main()->steps.size(), 30u);
    return FindRule(run_.findings, "repeated-backward");
  }

 private:
  void Add(const char* name, int64_t sequence, int64_t ns, bool backward) {
    build_.Operator(thread_, name, at_ + 1000, at_ + ns - 1000, sequence, backward ? 1 : 0,
                    backward ? OperatorScope::kBackward : OperatorScope::kFunction);
    if (gpu_) build_.Kernel(thread_, "nvjet_hsh_128", at_ + 2000, at_ + 3000, at_ + ns + 1000);
    at_ += ns;
  }

  const bool gpu_;
  StoreBuilder build_;
  ThreadId thread_ = build_.Thread(build_.Process(7, "tasks.py"));
  Store store_;
  RunOverview run_;
  int64_t at_ = kMs;
  int64_t sequence_ = 0;
};

TEST(RepeatedBackward, ATrunkThatEachLossGoesThroughIsNamed) {
  for (const bool gpu : {false, true}) {
    TwoTasks loop(gpu);
    for (int i = 0; i < 30; ++i) {
      loop.Forward();
      loop.Backward({1, 0});
      loop.Backward({2, 0});
      loop.Step();
    }
    const Finding* found = loop.Find();
    ASSERT_NE(found, nullptr) << "gpu: " << gpu;
    EXPECT_EQ(found->title.find("Backward runs 2 times through the same graph"), 0u)
        << found->title;
    EXPECT_NEAR(found->gain_ns, 0.95 * 4 * kMs, 0.3 * kMs) << found->seen;
    EXPECT_NE(found->action.find("(PCGrad, GradNorm, MGDA), take it"), std::string::npos) << gpu;
  }
}

// A text in windows: the state of one goes into the next with the graph that made it.
TEST(RepeatedBackward, AStateThatKeepsItsGraphIsToBeDetached) {
  TwoTasks loop;
  loop.NameCaller();
  for (int i = 0; i < 30; ++i) {
    for (int window = 1; window <= 4; ++window) {
      loop.Window();
      loop.BackwardThrough(window);
    }
    loop.Step();
  }
  const Finding* found = loop.Find();
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("`windows` (train.py:46): backward goes through earlier forwards"),
            0u)
      << found->title;
  EXPECT_EQ(found->action.find("Detach the state"), 0u) << found->action;
  EXPECT_NEAR(found->gain_ns, 0.95 * 6 * 4 * kMs, 0.5 * kMs);
}

// Heads that are called one after the other share a trunk: nothing grows.
TEST(RepeatedBackward, HeadsBehindEachOtherAreNoState) {
  TwoTasks loop;
  for (int i = 0; i < 30; ++i) {
    loop.Forward();
    loop.Backward({1, 0});
    loop.Backward({2, 0});
    loop.Backward({2, 0});
    loop.Step();
  }
  const Finding* found = loop.Find();
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->action.find("Add the losses"), 0u) << found->action;
}

TEST(RepeatedBackward, OneBackwardOfTheSumIsNone) {
  TwoTasks loop;
  for (int i = 0; i < 30; ++i) {
    loop.Forward();
    loop.Backward({2, 1, 0});
    loop.Step();
  }
  EXPECT_EQ(loop.Find(), nullptr);
}

TEST(RepeatedBackward, BehindAStepItIsForOtherParameters) {
  TwoTasks loop;
  for (int i = 0; i < 30; ++i) {
    loop.Forward();
    loop.Backward({1, 0});
    loop.Step("Optimizer.step#SGD.step#2");
    loop.Backward({2, 0});
    loop.Step();
  }
  EXPECT_EQ(loop.Find(), nullptr);
}

TEST(RepeatedBackward, GradientsOfGradientsGoThroughItAgainForGoodReason) {
  TwoTasks loop;
  for (int i = 0; i < 30; ++i) {
    loop.Forward();
    loop.Backward({1, 0});
    loop.MakeGraphInBackward();
    loop.Backward({1, 0});
    loop.Step();
  }
  EXPECT_EQ(loop.Find(), nullptr);
}

}  // namespace
}  // namespace batchlight
