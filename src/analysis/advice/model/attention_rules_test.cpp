// Attention that is written out and heads for targets that do not count, and what is neither.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

constexpr std::string_view kProduct = "aten::bmm";

// 20 steps of 10 ms: a forward of 5 ms in operators of 1 ms, then a backward of 4 ms in as many as
// `backward` names rows of the forward.
std::vector<Finding> FindingsOfForward(const std::vector<std::string_view>& forward,
                                       const std::vector<int>& backward,
                                       std::string_view version = "2.11.0",
                                       std::string_view class_name = "CausalSelfAttention",
                                       std::string_view ignored = "", bool converts = false) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Property("torch.version", version);
  if (!ignored.empty()) build.Property("data.ignored_targets", ignored);
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs, first = i * 100;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Module(thread, "h.0.attn", class_name, at, at + 5 * kMs);
    for (size_t row = 0; row < forward.size(); ++row) {
      const int64_t start = at + static_cast<int64_t>(row) * kMs;
      build.Operator(thread, forward[row], start, start + kMs - 1000, first + int64_t(row));
      if (converts && forward[row] == kProduct) {
        build.Operator(thread, "aten::to", start + 1000, start + kMs / 2);
        build.Operator(thread, kProduct, start + kMs / 2, start + kMs - 2000);
      }
      if (forward[row] == "aten::embedding") {
        build.Operator(thread, "aten::index_select", start + 1000, start + kMs / 2);
      }
    }
    build.Phase(thread, Phase::kBackward, "backward", at + 5 * kMs, at + 9 * kMs);
    for (size_t row = 0; row < backward.size(); ++row) {
      const int64_t start = at + 5 * kMs + static_cast<int64_t>(row) * kMs;
      build.Operator(thread, "Backward0", start, start + kMs - 1000, first + backward[row], 1,
                     OperatorScope::kBackward);
    }
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(AttentionRules, ScoresBetweenTwoProductsAreToBeFused) {
  const std::vector<std::string_view> forward = {kProduct, "aten::mul", "aten::masked_fill",
                                                 "aten::softmax", kProduct};
  const auto findings = FindingsOfForward(forward, {4, 3, 1, 0});
  const Finding* found = FindRule(findings, "unfused-attention");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, findings.data());
  EXPECT_EQ(found->title,
            "The attention of `CausalSelfAttention` is written out: its scores take 50 % of a "
            "step");
  EXPECT_NE(found->seen.find("first in `h.0.attn`"), std::string::npos) << found->seen;
  // Three operators and the backwards of two of them; not the products.
  EXPECT_NEAR(found->gain_ns, 5.0 * kMs, 0.1 * kMs);
  // PyTorch's own module writes it out for who wants the weights.
  const auto of_pytorch = FindingsOfForward(forward, {}, "2.11.0", "MultiheadAttention");
  ASSERT_NE(FindRule(of_pytorch, "unfused-attention"), nullptr);
  EXPECT_NE(of_pytorch.front().action.find("need_weights=False"), std::string::npos);
  EXPECT_EQ(FindRule(FindingsOfForward(forward, {}, "1.13.0a0"), "unfused-attention"), nullptr)
      << "nothing fused is there";
}

// Under autocast a product itself converts the scores, or a mask as large as they are.
TEST(AttentionRules, WhatTheProductsConvertIsNotNeededEither) {
  const auto findings = FindingsOfForward({kProduct, "aten::mul", "aten::softmax", kProduct}, {},
                                          "2.11.0", "MultiheadAttention", "", true);
  const Finding* found = FindRule(findings, "unfused-attention");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 3.0 * kMs, 0.1 * kMs);
  EXPECT_NE(found->action.find("is_causal=True"), std::string::npos);
}

TEST(AttentionRules, OtherSoftmaxesAreLeftAlone) {
  for (const std::vector<std::string_view>& forward : {
           // Codes of a code book: its product is one with weights.
           std::vector<std::string_view>{"aten::addmm", "aten::div", "aten::softmax", "aten::mul",
                                         "aten::mm"},
           // A layer lies between.
           {kProduct, "aten::addmm", "aten::softmax", "aten::mul", kProduct},
           // Products of a batch without a softmax.
           {kProduct, "aten::mul", "aten::relu", "aten::mul", kProduct},
           // The CPU's fused attention cannot drop.
           {kProduct, "aten::mul", "aten::softmax", "aten::bernoulli_", kProduct},
       }) {
    EXPECT_EQ(FindRule(FindingsOfForward(forward, {4, 3, 1, 0}), "unfused-attention"), nullptr)
        << forward[1];
  }
}

const Finding* FindIgnored(const std::vector<Finding>& findings) {
  return FindRule(findings, "ignored-targets");
}

std::vector<Finding> FindingsOfHead(const std::vector<std::string_view>& forward,
                                    std::string_view ignored) {
  return FindingsOfForward(forward, {4, 3, 2, 0}, "2.11.0", "BertForMaskedLM", ignored);
}

TEST(HeadRules, ScoresThatTheLossLeavesOutAreToBeLeftOutBefore) {
  const std::vector<std::string_view> forward = {"aten::linear", "aten::gelu", "aten::linear",
                                                 "aten::view", "aten::cross_entropy_loss"};
  const auto findings = FindingsOfHead(forward, "0.8500");
  const Finding* found = FindIgnored(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title,
            "The head makes scores for all positions, and the loss leaves out 85 % of them");
  EXPECT_NE(found->seen.find("in `h.0.attn`"), std::string::npos) << found->seen;
  // The last product, a view and the loss, with the backwards of all three.
  EXPECT_NEAR(found->gain_ns, 0.95 * 0.85 * 6 * kMs, 0.1 * kMs);
  EXPECT_EQ(FindIgnored(FindingsOfHead(forward, "0.4000")), nullptr);
  EXPECT_EQ(FindIgnored(FindingsOfHead(forward, "")), nullptr);
}

TEST(HeadRules, AnEmbeddingChoosesNoPositions) {
  const std::vector<std::string_view> forward = {"aten::embedding", "aten::gelu", "aten::linear",
                                                 "aten::view", "aten::cross_entropy_loss"};
  EXPECT_NE(FindIgnored(FindingsOfHead(forward, "0.8500")), nullptr);
}

TEST(HeadRules, HeadsOfChosenPositionsAreLeftAlone) {
  for (const std::vector<std::string_view>& forward : {
           std::vector<std::string_view>{"aten::index", "aten::gelu", "aten::linear", "aten::view",
                                         "aten::cross_entropy_loss"},
           {"aten::linear", "aten::view", "aten::linear", "aten::index",
            "aten::cross_entropy_loss"},
           // No product, or no loss.
           {"aten::gelu", "aten::gelu", "aten::gelu", "aten::view", "aten::cross_entropy_loss"},
           {"aten::linear", "aten::gelu", "aten::linear", "aten::view", "aten::mse_loss"},
       }) {
    EXPECT_EQ(FindIgnored(FindingsOfHead(forward, "0.8500")), nullptr) << forward[3];
  }
}

// On a GPU that is never idle, 20 steps of 10 ms: products take 2 ms, five kernels of attention
// 1 ms each, and 30 others in a row 0.1 ms each.
TEST(AttentionRules, OnAGpuItIsNoPartOfWhatCompilingFuses) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  constexpr std::string_view kElementwise =
      "void at::native::vectorized_elementwise_kernel<4, Mul>";
  for (int64_t i = 0; i < 20; ++i) {
    int64_t at = i * 10 * kMs, gpu = at + 50'000;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    const auto call = [&](std::string_view name, std::string_view kernel, int64_t took_ns) {
      build.Operator(thread, name, at, at + 20'000);
      build.Kernel(thread, kernel, at + 1000, gpu, gpu + took_ns);
      at += 30'000;
      gpu += took_ns;
    };
    call(kProduct, "nvjet_hsh_128", kMs);
    for (const std::string_view name :
         {"aten::mul", "aten::masked_fill", "aten::to", "aten::softmax", "aten::to"}) {
      call(name, kElementwise, kMs);
    }
    call(kProduct, "nvjet_hsh_128", kMs);
    for (int k = 0; k < 30; ++k) call("aten::add", kElementwise, kMs / 10);
  }
  const Store store = build.Build();
  const auto findings = BuildOverview(store).findings;
  const Finding* attention = FindRule(findings, "unfused-attention");
  const Finding* pointwise = FindRule(findings, "unfused-pointwise");
  ASSERT_NE(attention, nullptr);
  ASSERT_NE(pointwise, nullptr);
  EXPECT_NEAR(attention->gain_ns, 5.0 * kMs, 0.2 * kMs);
  EXPECT_NEAR(pointwise->gain_ns, 3 * kMs - 1.5 * 0.1 * kMs, 0.2 * kMs);
}

}  // namespace
}  // namespace batchlight
