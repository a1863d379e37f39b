// Causal masks that attention is given as tensors, and calls that need none of this.
#include <gtest/gtest.h>

#include "analysis/forward/attention_masks.h"
#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

constexpr std::string_view kForward =
    "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<...>)";
constexpr std::string_view kBackward =
    "fmha_cutlassB_bf16_aligned_64x64_k64_seqaligned_sm80(PyTorchMemEffAttention::...)";
constexpr std::string_view kCausal = "24 24 0 0 1024 Bool 1024x1024";

struct Loop {
  std::string_view masks = kCausal;
  std::string_view forward = kForward;
  std::string_view backward = kBackward;
  int64_t attention_ns = 2 * kMs;  // forward, and as long backward
  std::string_view class_name = "CausalSelfAttention";
  uint32_t compute_major = 9;
};

// 20 steps of 10 ms on a GPU that is never idle: attention and products.
std::vector<Finding> FindingsOf(const Loop& loop) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.store().gpus.Append({.compute_major = loop.compute_major});
  if (!loop.masks.empty()) build.Property("attention.masks", loop.masks);
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Module(thread, "h.0.attn", loop.class_name, at + 5'000, at + 40'000);
    int64_t gpu = at + 50'000, call = at + 10'000;
    const auto kernel = [&](std::string_view name, int64_t took_ns) {
      build.Kernel(thread, name, call, gpu, gpu + took_ns);
      call += 10'000;
      gpu += took_ns;
    };
    kernel(loop.forward, loop.attention_ns);
    kernel(loop.backward, loop.attention_ns);
    kernel("nvjet_hsh_128", at + 10 * kMs - gpu);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

const Finding* Find(const std::vector<Finding>& findings) {
  return FindRule(findings, "causal-mask");
}

TEST(AttentionMaskRules, ACausalMaskIsToBeSaidInAWord) {
  const auto findings = FindingsOf({});
  const Finding* found = Find(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, findings.data());
  EXPECT_EQ(found->title, "Attention computes what its causal mask hides");
  EXPECT_EQ(found->seen,
            "24 of the 24 calls of scaled_dot_product_attention that were looked at have a mask "
            "that is one for all samples and heads, 1024x1024 (Bool); rows of it are those of a "
            "causal one. The kernels that take it need 4.00 ms of a step (40 %).");
  EXPECT_NEAR(found->gain_ns, 0.6 * 4 * kMs, 0.05 * kMs);
  EXPECT_NE(found->patch.diff.find("is_causal=True"), std::string::npos);
  ASSERT_EQ(found->evidence.size(), 2u);
}

TEST(AttentionMaskRules, OfPytorchsModuleTheMaskStays) {
  const auto findings = FindingsOf({.class_name = "MultiheadAttention"});
  const Finding* found = Find(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->patch.diff.find("attn_mask=mask, is_causal=True"), std::string::npos);
}

TEST(AttentionMaskRules, FewPositionsGainLess) {
  const auto findings = FindingsOf({.masks = "24 24 0 0 256 Bool 256x256"});
  const Finding* found = Find(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.4 * 4 * kMs, 0.05 * kMs);
}

TEST(AttentionMaskRules, HalfOfTheMasksTellOfThoseAtWhichNobodyLooked) {
  const auto half = FindingsOf({.masks = "24 12 12 0 1024 Float 1x1x1024x1024"});
  ASSERT_NE(Find(half), nullptr);
  EXPECT_GT(Find(half)->gain_ns, 0);
  const auto none = FindingsOf({.masks = "24 0 24 0 8192 Float 1x1x8192x8192"});
  ASSERT_NE(Find(none), nullptr);
  EXPECT_EQ(Find(none)->gain_ns, 0);
  EXPECT_TRUE(Find(none)->patch.empty());
  EXPECT_EQ(Find(none)->action.find("If the mask is causal"), 0u) << Find(none)->action;
}

TEST(AttentionMaskRules, CudnnComputesWhatIsHiddenToo) {
  const auto findings = FindingsOf(
      {.forward = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7",
       .backward = "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_7"});
  const Finding* found = Find(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.45 * 4 * kMs, 0.05 * kMs);
}

TEST(AttentionMaskRules, OtherAttentionIsLeftAlone) {
  for (const Loop& loop : {
           Loop{.masks = ""},                                // is_causal=True, compiled, flex
           Loop{.masks = "24 0 0 24 0  "},                   // padding, a window
           Loop{.masks = "24 12 0 12 1024 Bool 1024x1024"},  // every second layer has a window
           Loop{.masks = "24 0 12 12 1024 Bool 1024x1024"},  // may be causal, or padding
           Loop{.masks = "24 0 0 0 1024 Bool 1024x1024"},    // no masks
           Loop{.forward = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>",
           .backward = "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<>"},
           Loop{.masks = "24 12 0 0 1024 Bool 1024x1024",
           .forward = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7",
           .backward = "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_7"},
           Loop{.forward = "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention)",
           .backward = "fmha_cutlassB_f32_aligned_64x64_k64_sm80(PyTorchMemEffAttention)"},
           Loop{.attention_ns = kMs / 5},  // 4 % of a step
           Loop{.compute_major = 7},       // has no FlashAttention
       }) {
    EXPECT_EQ(Find(FindingsOf(loop)), nullptr) << loop.masks << ' ' << loop.forward;
  }
}

// 20 steps of 10 ms: attention of 3 ms, and its backward.
std::vector<Finding> FindingsOnCpu(std::string_view masks) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.Property("attention.masks", masks);
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = i * 10 * kMs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Operator(thread, "aten::_scaled_dot_product_flash_attention_for_cpu", at, at + 3 * kMs,
                   i);
    build.Phase(thread, Phase::kBackward, "backward", at + 4 * kMs, at + 9 * kMs);
    build.Operator(thread, "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
                   at + 5 * kMs, at + 8 * kMs);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(AttentionMaskRules, TheCpuSkipsLongBlocksOnly) {
  const auto findings = FindingsOnCpu(kCausal);
  const Finding* found = Find(findings);
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain_ns, 0.25 * 6 * kMs, 0.05 * kMs);
  EXPECT_EQ(Find(FindingsOnCpu("24 24 0 0 512 Bool 512x512")), nullptr);
}

TEST(AttentionMasks, WhatIsNoSuchPropertyIsNothing) {
  for (const std::string_view text : {"", "24", "24 24 0 0 1024", "24 24 0 0 1024 Bool", "a b c",
                                      "-1 24 0 0 1024 Bool 1024x1024", "24 24 0 x 1 Bool 1x1"}) {
    EXPECT_EQ(ReadAttentionMasks(text).calls, 0u) << text;
  }
  EXPECT_EQ(ReadAttentionMasks(kCausal).shape, "1024x1024");
}

}  // namespace
}  // namespace batchlight
