// One deliberately bad loop for each rule that reads steps, phases and copies rather than kernels;
// the same loop without its fault has no finding. The other rules: advice_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/advice/advice.h"
#include "analysis/testing/store_builder.h"
#include "format/records.h"

namespace batchlight {
namespace {

using format::Phase;
using testing::StoreBuilder;

constexpr int64_t kMs = 1'000'000;

// Steps of 10 ms one after the other.
class Steps {
 public:
  Steps() : thread_(build_.Thread(build_.Process(7, "train.py"))) {}

  // begin and end of a step
  template <typename Add>
  void Step(int64_t length_ns, Add&& add) {
    build_.Range(thread_, "step", at_ns_, at_ns_ + length_ns - 1000);
    add(at_ns_, at_ns_ + length_ns - 1000);
    at_ns_ += length_ns;
  }
  void Even(int count) {
    for (int i = 0; i < count; ++i) Step(10 * kMs, [](int64_t, int64_t) {});
  }
  void Call(Phase phase, std::string_view name, int64_t start_ns, int64_t end_ns) {
    build_.Phase(thread_, static_cast<int>(phase), name, start_ns, end_ns);
  }
  StoreBuilder& build() { return build_; }
  ThreadId thread() const { return thread_; }

  std::vector<Finding> Findings() {
    store_ = build_.Build();
    return BuildOverview(store_).findings;
  }

 private:
  StoreBuilder build_;
  ThreadId thread_;
  Store store_;
  int64_t at_ns_ = 0;
};

// The gain of `rule`, ns a step; -1: it does not speak.
double GainOf(const std::vector<Finding>& findings, std::string_view rule) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.rule == rule; });
  return found == findings.end() ? -1 : found->gain_ns;
}

TEST(BadLoops, TheSameLoopWithoutAFaultHasNoFinding) {
  Steps steps;
  steps.Even(20);
  EXPECT_TRUE(steps.Findings().empty());
}

TEST(BadLoops, CheckpointsStall) {
  Steps steps;
  steps.Even(15);
  steps.Step(50 * kMs, [&](int64_t start, int64_t end) {
    steps.Call(Phase::kCheckpoint, "torch.save", start + 9 * kMs, end);
  });
  steps.Even(15);
  EXPECT_NEAR(GainOf(steps.Findings(), "checkpoint-stall"), 40.0 * kMs / 31, 0.05 * kMs);
}

TEST(BadLoops, CompilesAgain) {
  Steps steps;
  steps.Even(15);
  steps.Step(110 * kMs, [&](int64_t start, int64_t end) {
    steps.Call(Phase::kCompile, "torch.compile", start + 10 * kMs, end);
  });
  steps.Even(15);
  EXPECT_NEAR(GainOf(steps.Findings(), "recompilation"), 100.0 * kMs / 31, 0.05 * kMs);
}

TEST(BadLoops, EveryEpochStartsTheWorkersAgain) {
  Steps steps;
  for (int epoch = 0; epoch < 4; ++epoch) {
    steps.Step(40 * kMs, [&](int64_t start, int64_t) {
      steps.Call(Phase::kDataLoaderInit, "DataLoader.__iter__", start, start + 30 * kMs);
    });
    steps.Even(9);
  }
  // 120 ms over 40 steps; the first start of the four stays.
  EXPECT_NEAR(GainOf(steps.Findings(), "dataloader-restart"), 3.0 * kMs * 3 / 4, 0.05 * kMs);
}

TEST(BadLoops, AnOptimizerOfManyOperatorsOnTheCpu) {
  Steps steps;
  for (int i = 0; i < 20; ++i) {
    steps.Step(10 * kMs, [&](int64_t start, int64_t) {
      steps.Call(Phase::kOptimizerStep, "Adam.step", start + 5 * kMs, start + 9 * kMs);
      for (int64_t op = 0; op < 300; ++op) {
        const int64_t at = start + 5 * kMs + op * 10'000;
        steps.build().Operator(steps.thread(), "aten::mul_", at, at + 8'000);
      }
    });
  }
  EXPECT_NEAR(GainOf(steps.Findings(), "unfused-optimizer-cpu"), 4.0 * kMs * 0.4, 0.05 * kMs);
}

TEST(BadLoops, CopiesThatNothingHides) {
  constexpr uint8_t kHostToDevice = 1, kPinned = 1, kDevice = 2;
  Steps steps;
  for (int i = 0; i < 20; ++i) {
    steps.Step(10 * kMs, [&](int64_t start, int64_t end) {
      steps.build().Copy(steps.thread(), kHostToDevice, kPinned, kDevice, 20'000'000,
                         start + 10'000, start + 20'000, start + 20'000 + kMs);
      steps.build().Kernel(steps.thread(), "nvjet_hsh_128", start + 40'000, start + 30'000 + kMs,
                           end);
    });
  }
  EXPECT_NEAR(GainOf(steps.Findings(), "exposed-copies"), 0.8 * kMs, 0.1 * kMs);
}

TEST(BadLoops, WithoutSteps) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Range(thread, "load the data", 0, kMs);
  const Store store = build.Build();
  EXPECT_EQ(GainOf(BuildOverview(store).findings, "no-steps"), 0);
}

}  // namespace
}  // namespace batchlight
