// Operators that compute more than what is used of them, by what they were given.
#include <gtest/gtest.h>

#include <string>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

constexpr int64_t kNumbersOfAStep = 100;

struct Loop {
  // Autograd's numbers of steps 1 and 2 begin at 100 and 200; the model's layer has the first.
  std::string_view operands = "broadcast squared 256x256x64 64 2 sub:102-sum:104 sub:202-sum:204";
  std::string_view first = "aten::sub";
  bool learns = true;
  bool followed = true;  // by autograd
  bool on_gpu = false;
  int64_t each_ns = kMs;  // of three operators, and of their backward
};

// 20 steps of 12 ms.
std::vector<Finding> FindingsOf(const Loop& loop) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  build.Property("forward.operands", loop.operands);
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t begin = kMs + i * 12 * kMs, number = i * kNumbersOfAStep;
    int64_t gpu_ns = begin + 4 * kMs;
    const auto kernel = [&](int64_t call_ns, int64_t took_ns) {
      if (!loop.on_gpu) return;
      gpu_ns = std::max(gpu_ns, call_ns + 1000);
      build.Kernel(thread, "elementwise_kernel", call_ns, gpu_ns, gpu_ns + took_ns);
      gpu_ns += took_ns;
    };
    build.Module(thread, "Net", "Net", begin, begin + 5 * kMs);
    build.Operator(thread, "aten::linear", begin + 10, begin + 500'000, number);
    int64_t at = begin + 600'000, next = number + 2;
    for (const std::string_view name :
         {loop.first, std::string_view("aten::pow"), std::string_view("aten::sum")}) {
      build.Operator(thread, name, at, at + loop.each_ns, loop.followed ? next++ : -1);
      kernel(at + 100, loop.each_ns);
      at += loop.each_ns + 10'000;
    }
    build.Operator(thread, "aten::linear", at, at + 10'000, loop.followed ? next : number + 2);
    build.Phase(thread, Phase::kBackward, "backward", begin + 5 * kMs, begin + 10 * kMs);
    at = begin + 5 * kMs + 1000;
    for (int64_t of = number + 4; loop.learns && of >= number + 2; --of) {
      build.Operator(thread, "SumBackward0", at, at + loop.each_ns, of, 1,
                     OperatorScope::kBackward);
      kernel(at + 100, loop.each_ns);
      at += loop.each_ns + 10'000;
    }
    if (loop.on_gpu) {  // which is never idle
      build.Kernel(thread, "nvjet_hsh_128", at, gpu_ns, begin + 16 * kMs);
    }
    build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#SGD.step", begin + 10 * kMs,
                begin + 12 * kMs - 1000);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

constexpr const char* kBroadcast = "broadcast-distances";
constexpr const char* kIndexed = "indexed-gradient";

TEST(OperandRules, DistancesByBroadcastingAreToBeAProductOfMatrices) {
  const auto findings = FindingsOf({});
  const Finding* found = FindRule(findings, kBroadcast);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, findings.data());
  EXPECT_EQ(found->title,
            "`Net`: Distances of all pairs are computed by broadcasting: 50 % of a step");
  EXPECT_EQ(found->seen,
            "1 times a step two tensors are broadcast against each other, to 256x256x64 where it "
            "takes longest, and 64 numbers of each pair are summed up at once. That, with its "
            "backward, takes 6.03 ms of a step (50 %).");
  EXPECT_NEAR(found->gain_ns, 0.95 * 64 / 65.5 * 6 * kMs, 0.05 * kMs);
  EXPECT_NE(found->patch.diff.find("- 2 * a @ b.T"), std::string::npos);
}

TEST(OperandRules, WithAGpuItsWorkCounts) {
  const auto findings = FindingsOf({.on_gpu = true});
  const Finding* found = FindRule(findings, kBroadcast);
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("6.00 ms of a step (50 %)"), std::string::npos) << found->seen;
}

TEST(OperandRules, WithoutGradientsForwardAloneCounts) {
  for (const bool followed : {true, false}) {
    const auto findings =
        FindingsOf({.operands = "broadcast squared 256x256x64 64 2 sub:102-sum:104 sub:202-sum:204",
                    .learns = false,
                    .followed = followed});
    const Finding* found = FindRule(findings, kBroadcast);
    if (followed) {
      ASSERT_NE(found, nullptr);
      EXPECT_NE(found->seen.find("That takes 3.03 ms of a step (25 %)"), std::string::npos);
      continue;
    }
    // Numbers are those of what comes next.
    const auto unfollowed =
        FindingsOf({.operands = "broadcast squared 256x256x64 64 2 sub:101-sum:101 sub:201-sum:201",
                    .learns = false,
                    .followed = false});
    const Finding* without = FindRule(unfollowed, kBroadcast);
    ASSERT_NE(without, nullptr);
    EXPECT_NE(without->seen.find("That takes 3.03 ms of a step (25 %)"), std::string::npos)
        << without->seen;
  }
}

TEST(OperandRules, FewNumbersOfAPairGainLess) {
  const auto gain = [](const Loop& loop) {
    const auto findings = FindingsOf(loop);
    const Finding* found = FindRule(findings, kBroadcast);
    return found == nullptr ? 0 : found->gain_ns / kMs;
  };
  EXPECT_NEAR(gain({.operands = "broadcast norm 999x999x3 3 2 sub:102-sum:104 sub:202-sum:204"}),
              0.95 * 3 / 4.5 * 6, 0.05);
  EXPECT_NEAR(
      gain({.operands = "broadcast absolute 999x999x3 3 2 sub:102-sum:104 sub:202-sum:204"}),
      0.8 * 3 / 6 * 6, 0.05);
}

TEST(OperandRules, CallsWhoseNumbersWereNotToldCount) {
  const auto findings =
      FindingsOf({.operands = "broadcast product 9x9x64 64 4 sub:102-sum:104 sub:202-sum:204"});
  const Finding* found = FindRule(findings, kBroadcast);
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->title.find("Scalar products of all pairs"), std::string::npos);
  EXPECT_EQ(found->seen.find("2 times a step"), 0u) << found->seen;
}

TEST(OperandRules, ShortOnesAndTextsThatSayNothingAreSilent) {
  EXPECT_EQ(FindRule(FindingsOf({.each_ns = 50'000}), kBroadcast), nullptr);
  for (const std::string_view text :
       {"", "broadcast", "broadcast squared 9x9x9 9 0 sub:102-sum:104",
        "broadcast squared 9x9x9 9 2 sub:-1", "broadcast other 9x9x9 9 2 sub:102-sum:104",
        "broadcast squared 9x9x9 9 2", "broadcast squared 9x9x9 9 2 sub:1-sum:4",
        "indexed 12 500 3 1 sub:102", "broadcast squared 9x9x9 9 1 sub:102-su", ";; ;"}) {
    const auto findings = FindingsOf({.operands = text});
    EXPECT_EQ(FindRule(findings, kBroadcast), nullptr) << text;
  }
}

TEST(OperandRules, SixteenEntriesAreRead) {
  const std::string entry = "broadcast squared 256x256x64 64 2 sub:102-sum:104 sub:202-sum:204";
  std::string text;
  for (int i = 0; i < 15; ++i) text += "other;";
  EXPECT_NE(FindRule(FindingsOf({.operands = text + entry}), kBroadcast), nullptr);
  text += "other;";
  EXPECT_EQ(FindRule(FindingsOf({.operands = text + entry}), kBroadcast), nullptr);
}

TEST(OperandRules, GradientsOfManyIndicesAreToBeAnEmbeddings) {
  const auto gain = [](std::string_view operands, bool on_gpu) {
    const auto findings =
        FindingsOf({.operands = operands, .first = "aten::index", .on_gpu = on_gpu});
    EXPECT_EQ(FindRule(findings, kBroadcast), nullptr);
    const Finding* found = FindRule(findings, kIndexed);
    if (found == nullptr) return 0.0;
    EXPECT_EQ(found->title, "`Net`: The gradient of rows chosen by an index takes 8.3 % of a step");
    EXPECT_NE(found->patch.diff.find("F.embedding(index, tensor)"), std::string::npos);
    return found->gain_ns / kMs;
  };
  const double many = gain("indexed 12 500000 128 2 index:102 index:202", true);
  const double few = gain("indexed 1000 8000 128 2 index:102 index:202", true);
  EXPECT_GT(few, 0);
  EXPECT_NEAR(many / few, 0.9 / 0.5, 0.01);
  // There it is as fast as others.
  EXPECT_EQ(gain("indexed 12 500000 128 2 index:102 index:202", false), 0);
}

}  // namespace
}  // namespace batchlight
