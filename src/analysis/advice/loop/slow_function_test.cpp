// Functions of the program's own that are slow inside a phase.
#include <gtest/gtest.h>

#include "analysis/advice/rules.h"
#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// 20 steps of 10 ms, each filled by add(builder, thread, number, start).
template <typename Add>
std::vector<Finding> FindingsOf(Add&& add, StoreBuilder build) {
  const ThreadId thread = build.Thread(build.Process(7, "fit.py"));
  for (int64_t step = 0; step < 20; ++step) {
    build.Range(thread, "step", step * 10 * kMs, (step + 1) * 10 * kMs - 1000);
    add(build, thread, step, step * 10 * kMs);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

void AddSample(StoreBuilder& build, ThreadId thread, int64_t t, PythonStackId stack) {
  build.store().python_samples.Append({.start_ns = t - kMs / 2,
                                       .end_ns = t,
                                       .thread = thread,
                                       .python_stack = stack,
                                       .samples = 1});
}

// Steps whose backward, or loss, is in `gradient` of fit.py, called by `main`, which steps the
// optimizer too; inside it operators `name` of `operator_ns` one after the other, each of which
// calls aten::cat.
std::vector<Finding> FindingsOfGradient(int64_t operator_ns, bool is_loss = false,
                                        const char* name = "aten::mm") {
  StoreBuilder made;
  for (const char* function : {"main", "gradient"}) {
    made.store().python_frames.Append(
        {.file = made.Text("/home/u/fit.py"), .function = made.Text(function), .line = 30});
  }
  const PythonStackId main = PythonStackId::At(0);
  made.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  made.store().python_stacks.Append({.frame = PythonFrameId::At(1), .parent = main});
  return FindingsOf(
      [&](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
        build.Operator(thread, "aten::mm", t, t + 2 * kMs);
        if (is_loss) {
          build.Range(thread, "loss", t + 2 * kMs, t + 8 * kMs);
        } else {
          build.Phase(thread, Phase::kBackward, "backward", t + 2 * kMs, t + 8 * kMs);
        }
        for (int64_t at = t + 2 * kMs; operator_ns > 0 && at < t + 8 * kMs; at += operator_ns) {
          build.Operator(thread, name, at, at + operator_ns);
          build.Operator(thread, "aten::cat", at + operator_ns / 4, at + operator_ns / 2);
        }
        for (int i = 5; i < 16; ++i) {
          AddSample(build, thread, t + i * kMs / 2, PythonStackId::At(1));
        }
        build.Phase(thread, Phase::kOptimizerStep, "SGD.step", t + 8 * kMs, t + 9 * kMs);
        AddSample(build, thread, t + 8 * kMs + kMs / 2, main);
      },
      std::move(made));
}

TEST(SlowFunction, AFunctionThatIsSlowInAPhaseIsNamed) {
  const auto findings = FindingsOfGradient(0);
  const Finding* found = FindRule(findings, "slow-function");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("`gradient` (fit.py:30) takes 5"), 0u) << found->title;
  EXPECT_NEAR(found->gain_ns, 0.8 * 5.5 * kMs, 0.5 * kMs);
  const auto of_loss = FindingsOfGradient(0, true);
  found = FindRule(of_loss, "slow-function");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->title.ends_with(", in loss")) << found->title;
  // Its work is that of long operators.
  EXPECT_EQ(FindRule(FindingsOfGradient(kMs), "slow-function"), nullptr);
}

// The same time was told twice, first to "do it with operators on whole tensors".
TEST(SlowFunction, AnUpdateByHandIsToldOnceWithItsFunction) {
  StoreBuilder made;
  for (const char* function : {"main", "update"}) {
    made.store().python_frames.Append(
        {.file = made.Text("/home/u/fit.py"), .function = made.Text(function), .line = 30});
  }
  const PythonStackId main = PythonStackId::At(0);
  made.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  made.store().python_stacks.Append({.frame = PythonFrameId::At(1), .parent = main});
  const auto findings = FindingsOf(
      [](StoreBuilder& build, ThreadId thread, int64_t step, int64_t t) {
        build.Operator(thread, "aten::addmm", t, t + kMs, step);
        for (int i = 1; i < 5; ++i) {
          AddSample(build, thread, t + i * kMs / 2, PythonStackId::At(0));
        }
        build.Phase(thread, Phase::kBackward, "backward", t + kMs, t + 2 * kMs);
        for (int64_t at = t + 2 * kMs; at < t + 9 * kMs; at += 50'000) {
          build.Operator(thread, "aten::mul_", at + 10'000, at + 40'000);
        }
        for (int i = 5; i < 18; ++i) {
          AddSample(build, thread, t + i * kMs / 2, PythonStackId::At(1));
        }
      },
      std::move(made));
  EXPECT_EQ(FindRule(findings, "slow-function"), nullptr);
  const Finding* found = FindRule(findings, "update-by-hand");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("`update` (fit.py:30) updates the parameters itself, for 7"), 0u)
      << found->title;
}

// A queue of rows that are put together in every step: a long operator, and none that computes.
TEST(SlowFunction, AFunctionThatPutsTensorsTogetherIsNamed) {
  const auto findings = FindingsOfGradient(kMs, true, "aten::stack");
  const Finding* found = FindRule(findings, "slow-function");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title.find("`gradient` (fit.py:30) takes 5"), 0u) << found->title;
}

// Steps whose loss is a module that calls `match`, which calls `iou_one` for each box: Python and
// operators of 5 us, which autograd does not follow. In each step one of them loses its processor
// for a millisecond. With a GPU each launches a kernel.
std::vector<Finding> FindingsOfMatching(bool has_gpu, bool waits = false) {
  StoreBuilder made;
  PythonStackId caller;
  for (const char* function : {"main", "Loss.forward", "match", "iou_one"}) {
    const auto row = static_cast<uint32_t>(made.store().python_frames.size());
    made.store().python_frames.Append(
        {.file = made.Text("/home/u/ssd.py"), .function = made.Text(function), .line = 7 + row});
    made.store().python_stacks.Append({.frame = PythonFrameId::At(row), .parent = caller});
    caller = PythonStackId::At(row);
  }
  return FindingsOf(
      [&](StoreBuilder& build, ThreadId thread, int64_t step, int64_t t) {
        build.Operator(thread, "aten::convolution", t, t + 2 * kMs, 2 * step);
        if (has_gpu) build.Kernel(thread, "nvjet_hsh_128", t + 1'000, t + 5'000, t + 2 * kMs);
        build.Range(thread, "loss", t + 2 * kMs, t + 8 * kMs);
        int64_t at = t + 2 * kMs + kMs / 100;  // no sample falls into one
        for (int i = 0; i < 100; ++i, at += kMs / 20) {
          build.Operator(thread, "aten::sub", at, at + (i == 50 ? kMs : 5000), 2 * step + 1);
          if (has_gpu) build.Kernel(thread, "elementwise", at + 1'000, at + 5'000, at + 6'000);
          if (waits) build.ApiCall(thread, "cudaStreamSynchronize", at + 30'000, at + 45'000);
          if (i == 50) at += kMs;
        }
        for (int i = 5; i < 16; ++i) {
          AddSample(build, thread, t + i * kMs / 2, PythonStackId::At(2 + i % 2));
        }
        build.Phase(thread, Phase::kOptimizerStep, "SGD.step", t + 8 * kMs, t + 9 * kMs);
        AddSample(build, thread, t + 8 * kMs + kMs / 2, PythonStackId::At(0));
      },
      std::move(made));
}

TEST(SlowFunction, WhatAModuleCallsHasTheTimeOfWhatThatCalls) {
  for (const bool has_gpu : {false, true}) {
    const auto findings = FindingsOfMatching(has_gpu);
    const Finding* found = FindRule(findings, "slow-function");
    ASSERT_NE(found, nullptr) << has_gpu;
    EXPECT_EQ(found->title.find("`match` (ssd.py:9) takes 5"), 0u) << found->title;
    EXPECT_GE(found->gain_ns, 0.6 * 5.5 * kMs) << "the GPU works meanwhile in a fifth of it";
    EXPECT_LE(found->gain_ns, 0.9 * 5.5 * kMs);
    EXPECT_EQ(found, &findings.front()) << "before launches as such: " << findings.front().title;
  }
}

// `if size[j] < threshold` of a tensor on the GPU: nothing hides it.
TEST(SlowFunction, WhatWaitsForTheGpuAgainAndAgainIsExposed) {
  const auto findings = FindingsOfMatching(true, true);
  const Finding* found = FindRule(findings, "slow-function");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("waits for the GPU 1"), std::string::npos) << found->seen;
  EXPECT_GE(found->gain_ns, 0.93 * 5.3 * kMs);
}

// A backward that waits in the engine, for other ranks: no Python of `train`, which called it.
TEST(SlowFunction, AWaitInBackwardIsNotOfWhoCalledIt) {
  StoreBuilder made;
  PythonStackId caller;
  for (const auto& [file, function] :
       {std::pair("/home/u/fit.py", "train"),
        std::pair("/usr/lib/python3/site-packages/torch/autograd/graph.py",
                  "_engine_run_backward")}) {
    const auto row = static_cast<uint32_t>(made.store().python_frames.size());
    made.store().python_frames.Append(
        {.file = made.Text(file), .function = made.Text(function), .line = 7});
    made.store().python_stacks.Append({.frame = PythonFrameId::At(row), .parent = caller});
    caller = PythonStackId::At(row);
  }
  const auto findings = FindingsOf(
      [&](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
        build.Operator(thread, "aten::mm", t, t + kMs);
        build.Phase(thread, Phase::kBackward, "backward", t + kMs, t + 9 * kMs);
        for (int i = 3; i < 18; ++i) AddSample(build, thread, t + i * kMs / 2, caller);
      },
      std::move(made));
  EXPECT_EQ(FindRule(findings, "slow-function"), nullptr);
}

// Steps of which 5 ms are an operator `name` behind the model's, in `draw` of fit.py.
std::vector<Finding> FindingsBesideTheModel(const char* name, bool with_samples = true) {
  StoreBuilder made;
  made.store().python_frames.Append(
      {.file = made.Text("/home/u/fit.py"), .function = made.Text("draw"), .line = 38});
  made.store().python_stacks.Append({.frame = PythonFrameId::At(0)});
  int64_t sequence = 0;
  return FindingsOf(
      [&](StoreBuilder& build, ThreadId thread, int64_t, int64_t t) {
        build.Operator(thread, "aten::linear", t, t + 2 * kMs, ++sequence);
        build.Operator(thread, "aten::mul", t + 2 * kMs, t + 3 * kMs, ++sequence);
        build.Operator(thread, name, t + 3 * kMs, t + 8 * kMs);
        for (int i = 7; i < 16 && with_samples; ++i) {
          AddSample(build, thread, t + i * kMs / 2, PythonStackId::At(0));
        }
      },
      std::move(made));
}

TEST(WorkBesideTheModel, IsNamedByItsFunction) {
  const auto findings = FindingsBesideTheModel("aten::multinomial");
  const Finding* found = FindRule(findings, "work-beside-the-model");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`draw` (fit.py:38): 51 % of a step is operators beside the model");
  EXPECT_NE(found->seen.find("`aten::multinomial` 5.00 ms"), std::string::npos) << found->seen;
  EXPECT_NEAR(found->gain_ns, 0.8 * 5 * kMs, 0.1 * kMs);
}

TEST(WorkBesideTheModel, WhatIsNeededIsLeftAlone) {
  for (const char* name : {"aten::lerp_", "aten::to", "aten::_foreach_norm"}) {
    EXPECT_EQ(FindRule(FindingsBesideTheModel(name), "work-beside-the-model"), nullptr) << name;
  }
  EXPECT_EQ(FindRule(FindingsBesideTheModel("aten::pow", false), "work-beside-the-model"), nullptr);
}

}  // namespace
}  // namespace batchlight
