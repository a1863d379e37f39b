// Tokens that are generated one by one, with a KV cache and without.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// Of a call of the model: blocks of its kernels, and what each takes.
struct Call {
  std::vector<uint32_t> blocks;
  int64_t kernel_ns = 0;
  std::string shapes = {};           // of a layer
  const char* behind = "aten::cat";  // an operator between it and the next
  bool of_batch = false;             // a DataLoader's
};

// Six rounds: twenty calls without gradients, which take the CPU 3 ms each, then an update.
std::vector<Finding> FindingsOf(const std::function<Call(int)>& call_at, bool learns = false) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "grpo.py"));
  build.Phase(thread, Phase::kPythonStart, "python start", 0, 0);
  int64_t t = kMs, number = 1;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 20; ++i) {
      const Call call = call_at(i);
      const int64_t start = t;
      build.Module(thread, "Decoder", "Decoder", t, t + 3 * kMs);
      if (!learns) build.Phase(thread, Phase::kEvaluationCall, "no_grad", t + 1, t + 3 * kMs - 1);
      build.Operator(thread, "aten::linear", t + 1000, t + kMs, learns ? number++ : -1, 0,
                     OperatorScope::kFunction, call.shapes);
      build.Operator(thread, "aten::gelu", t + kMs, t + 2 * kMs, learns ? number++ : -1);
      t += 10'000;
      for (size_t k = 0; k < call.blocks.size(); ++k) {
        build.Kernel(thread, "gemm", start + 2000 + int64_t(k) * 10'000, t, t + call.kernel_ns);
        KernelLaunchesRow grid;
        grid.grid_x = call.blocks[k];
        grid.grid_y = grid.grid_z = 1;
        grid.block_x = 128;
        grid.block_y = grid.block_z = 1;
        KernelsTable& kernels = build.store().kernels;
        kernels.launch.back() = KernelLaunchId(uint32_t(build.store().kernel_launches.size()));
        build.store().kernel_launches.Append(grid);
        t += call.kernel_ns;
      }
      t = std::max(t, start + 4 * kMs);
      build.Operator(thread, call.behind, t - 50'000, t - 40'000);
      if (!call.of_batch) continue;
      build.Phase(thread, Phase::kDataLoaderNext,
                  "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t - 30'000,
                  t - 20'000);
    }
    for (int step = 0; step < 2; ++step, t += 10 * kMs) {
      build.Module(thread, "Decoder", "Decoder", t, t + 4 * kMs);
      build.Phase(thread, Phase::kBackward, "backward", t + 4 * kMs, t + 8 * kMs);
      build.Phase(thread, Phase::kOptimizerStep, "Optimizer.step#Adam.step", t + 8 * kMs,
                  t + 10 * kMs);
    }
  }
  build.Phase(thread, Phase::kMainEnd, "end of main program", t, t);
  build.store().processes.end_ns[0] = t + kMs;
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

const Finding* Found(const std::vector<Finding>& findings) {
  return FindRule(findings, "generation-without-cache");
}

// Four kernels of 3 ms; those of products have as many blocks as the GPU has room for.
Call WithoutCache(int i) {
  const uint32_t blocks = 1000 + 10 * uint32_t(i);
  return {.blocks = {132, blocks, blocks, blocks}, .kernel_ns = 3 * kMs};
}

TEST(GenerationRules, CallsThatWorkOnOnePositionMoreEachWantACache) {
  const auto findings = FindingsOf(WithoutCache);
  const Finding* found = Found(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, findings.data());
  EXPECT_EQ(found->title, "`Decoder` generates without a KV cache");
  EXPECT_NE(found->seen.find("20 in a row"), std::string::npos) << found->seen;
  // 12 ms of the GPU a call, where the CPU needs 3: of the five rounds behind the first step.
  EXPECT_NEAR(found->run_gain_ns, 0.95 * 5 * 19 * 9 * kMs, 0.05 * 5 * 19 * 9 * kMs);
  EXPECT_EQ(FindRule(findings, "rollout-of-one"), nullptr);
}

TEST(GenerationRules, WithACacheOnlyWhatHoldsItGrows) {
  EXPECT_EQ(Found(FindingsOf([](int i) {
              const uint32_t held = 1000 + 10 * uint32_t(i), other = i == 0 ? 1000 : 10;
              return Call{.blocks = {other, held, other, other}, .kernel_ns = 3 * kMs};
            })),
            nullptr);
}

TEST(GenerationRules, OtherRowsOfCallsAreLeftAlone) {
  const auto sizes = [](const std::vector<uint32_t>& blocks) {
    return Found(FindingsOf([&](int i) {
      return Call{.blocks = std::vector<uint32_t>(4, blocks[size_t(i) % blocks.size()]),
                  .kernel_ns = 3 * kMs};
    }));
  };
  EXPECT_EQ(sizes({1000}), nullptr) << "alike";
  EXPECT_EQ(sizes({1000, 1010, 1020, 1030}), nullptr) << "few";
  EXPECT_EQ(sizes({500, 510, 515, 580, 590, 650, 652, 654,  700,  701,
                   790, 795, 800, 900, 905, 909, 915, 1000, 1001, 1100}),
            nullptr)
      << "batches sorted by length";
  EXPECT_EQ(Found(FindingsOf(WithoutCache, true)), nullptr) << "autograd follows them";
}

// Sorted by length, and each as much longer as the one before.
TEST(GenerationRules, BatchesOfAValidationAreNoGeneration) {
  const auto with = [](const std::function<void(Call&)>& change) {
    return Found(FindingsOf([&](int i) {
      Call call = WithoutCache(i);
      change(call);
      return call;
    }));
  };
  EXPECT_NE(with([](Call&) {}), nullptr);
  EXPECT_EQ(with([](Call& call) { call.of_batch = true; }), nullptr);
  EXPECT_EQ(with([](Call& call) { call.behind = "aten::argmax"; }), nullptr) << "for the accuracy";
  EXPECT_NE(with([](Call& call) { call.behind = "aten::copy_"; }), nullptr) << "into a buffer";
}

TEST(GenerationRules, BatchesThatGrowAboutEvenlyAreNoGeneration) {
  const auto grown = [](int i) { return 10 * i + (i * 7 % 5) - 2; };
  EXPECT_EQ(Found(FindingsOf([&](int i) {
              const uint32_t blocks = 1000 + 2 * uint32_t(grown(i) + 2);
              return Call{.blocks = {132, blocks, blocks, blocks}, .kernel_ns = 3 * kMs};
            })),
            nullptr);
  EXPECT_EQ(Found(FindingsOf([&](int i) {
              return Call{.shapes = "[[8, " + std::to_string(100 + grown(i)) + ", 64], [64, 64]]"};
            })),
            nullptr)
      << "without a GPU";
}

TEST(GenerationRules, WhatTheCpuIsTooSlowForGainsNothing) {
  EXPECT_EQ(Found(FindingsOf([](int i) {
              Call call = WithoutCache(i);
              call.kernel_ns = kMs / 10;
              return call;
            })),
            nullptr);
}

TEST(GenerationRules, WithoutAGpuShapesTell) {
  const auto of_layer = [](int positions) {
    return Call{.shapes = "[[8, " + std::to_string(positions) + ", 64], [64, 64], []]"};
  };
  const auto findings = FindingsOf([&](int i) { return of_layer(30 + i); });
  const Finding* found = Found(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("39.5 in the mean"), std::string::npos) << found->seen;
  EXPECT_NEAR(found->run_gain_ns, 0.7 * 5 * 19 * 3 * kMs, 0.01 * kMs);
  EXPECT_EQ(Found(FindingsOf([&](int i) { return of_layer(i == 0 ? 30 : 1); })), nullptr);
  EXPECT_EQ(Found(FindingsOf([](int) { return Call{}; })), nullptr) << "not known";
}

}  // namespace
}  // namespace batchlight
