// A loop over groups of a batch in forward, and what a CUDA graph cannot capture.
#include <gtest/gtest.h>

#include <climits>
#include <string>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

struct Readout {
  int rounds = 32;
  bool by_mask = true;
  bool learns = true;
  bool as_layers = false;    // a module of its own for each round
  bool with_module = false;  // that all rounds call
  bool on_gpu = false;
  int second_from = INT_MAX;  // rounds from here on are another loop's
  int plain_before = 0;       // rounds of a loop that looks for nothing
};

// 20 steps of 10 ms: the rounds take 4 ms of forward and as much of backward.
std::vector<Finding> FindingsOf(const Readout& of) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  const int64_t length = 4 * kMs / of.rounds;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t begin = kMs + i * 10 * kMs;
    int64_t number = i * 1000;
    build.Module(thread, "Net", "Net", begin, begin + 5 * kMs);
    build.Operator(thread, "aten::linear", begin + 10, begin + 100'000, number++);
    build.Module(thread, "readout", "Readout", begin + 200'000, begin + 5 * kMs - 1000);
    for (int call = 0; call < 3 * of.plain_before; ++call) {
      const char* const names[] = {"aten::mul", "aten::exp", "aten::add_"};
      const int64_t at = begin + 210'000 + call * 500;
      build.Operator(thread, names[call % 3], at, at + 400);
    }
    for (int round = 0; round < of.rounds; ++round) {
      const int64_t at = begin + 300'000 + round * length;
      const auto call = [&](std::string_view name, int64_t from, int64_t to) {
        build.Operator(thread, name, at + from * length / 10, at + to * length / 10, number++);
        if (!of.on_gpu) return;
        build.Kernel(thread, "elementwise_kernel", at + from * length / 10 + 100,
                     at + from * length / 10 + 2000, at + from * length / 10 + 4000);
      };
      if (of.as_layers) {
        const std::string path = "readout." + std::to_string(round);
        build.Module(thread, path, "Linear", at, at + length - 1);
      }
      if (round == of.second_from) call("aten::zeros", 0, 0);
      call("aten::eq", 0, 1);
      call("aten::index", 1, 3);
      if (of.by_mask) {
        build.Operator(thread, "aten::nonzero", at + length / 10 + 10, at + 2 * length / 10,
                       number);
      }
      if (of.with_module) {
        build.Module(thread, "readout.gate", "Linear", at + 3 * length / 10, at + length * 6 / 10);
      }
      if (round >= of.second_from) call("aten::gelu", 3, 4);
      call("aten::linear", 4, 6);
      call("aten::sum", 7, 9);
    }
    build.Phase(thread, Phase::kBackward, "backward", begin + 5 * kMs, begin + 9 * kMs);
    for (int64_t row = 0; of.learns && row < number - i * 1000; ++row) {
      const int64_t each = 4 * kMs / (number - i * 1000);
      const int64_t at = begin + 5 * kMs + row * each;
      build.Operator(thread, "SumBackward0", at, at + each - 100, number - 1 - row, 1,
                     OperatorScope::kBackward);
    }
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", begin + 9 * kMs,
                begin + 10 * kMs - 1000);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(MaskLoopRules, ALoopOverGroupsThatAMaskChoosesIsToBeOneSegmentOperation) {
  for (const bool with_module : {false, true}) {
    const auto findings = FindingsOf({.with_module = with_module});
    const Finding* found = FindRule(findings, "masked-loop");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->title.find("`readout` chooses rows by a mask 32 times a step"), 0u)
        << found->title;
    EXPECT_NE(found->action.find("index_add"), std::string::npos);
    EXPECT_NEAR(found->gain_ns, 0.95 * 7.9 * kMs, 0.3 * kMs);
  }
}

TEST(MaskLoopRules, AllLoopsOfAModuleCount) {
  const auto findings = FindingsOf({.rounds = 64, .second_from = 40});
  const Finding* found = FindRule(findings, "masked-loop");
  ASSERT_NE(found, nullptr);
  // The round between the two is of neither.
  EXPECT_EQ(found->title.find("`readout` chooses rows by a mask 63 times a step"), 0u)
      << found->title;
  EXPECT_NE(found->seen.find("63 times a step, in 2 loops, the longest"), std::string::npos)
      << found->seen;
  EXPECT_NEAR(found->gain_ns, 0.95 * 7.9 * kMs, 0.3 * kMs);
}

TEST(MaskLoopRules, OtherLoopsAreNoneOfIt) {
  EXPECT_EQ(FindRule(FindingsOf({.rounds = 8}), "masked-loop"), nullptr) << "few";
  EXPECT_EQ(FindRule(FindingsOf({.by_mask = false}), "masked-loop"), nullptr) << "no mask";
  EXPECT_EQ(FindRule(FindingsOf({.learns = false}), "masked-loop"), nullptr) << "data";
  EXPECT_EQ(FindRule(FindingsOf({.as_layers = true}), "masked-loop"), nullptr) << "layers";
}

TEST(MaskLoopRules, OnAGpuItIsToldBeforeLaunches) {
  const auto findings = FindingsOf({.on_gpu = true});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().rule, "masked-loop");
  EXPECT_NE(findings.front().why.find("waits for the GPU"), std::string::npos);
}

TEST(MaskLoopRules, OneBesideALongerLoopThatLooksForNothing) {
  const auto findings = FindingsOf({.plain_before = 48});
  EXPECT_NE(FindRule(findings, "masked-loop"), nullptr);
}

}  // namespace
}  // namespace batchlight
