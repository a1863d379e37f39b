#include "analysis/cuda/kernel_class.h"

#include <gtest/gtest.h>

#include <set>

namespace batchlight {
namespace {

struct Case {
  std::string_view name;
  KernelKind kind;
  TensorCoreUse tensor_core;
};

class KernelClassTest : public testing::TestWithParam<Case> {};

TEST_P(KernelClassTest, KnowsTheName) {
  const KernelClass found = ClassifyKernel(GetParam().name);
  EXPECT_EQ(found.kind, GetParam().kind) << GetParam().name << " by rule " << found.rule_id;
  EXPECT_EQ(found.tensor_core, GetParam().tensor_core) << GetParam().name;
}

constexpr TensorCoreUse kYes = TensorCoreUse::kYes;
constexpr TensorCoreUse kNo = TensorCoreUse::kNo;

INSTANTIATE_TEST_SUITE_P(
    Names, KernelClassTest,
    testing::Values(
        Case{"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT", KernelKind::kGemm, kYes},
        Case{"nvjet_tst_64x8_64x16_4x1_v_bz_TNN", KernelKind::kGemm, kYes},
        Case{"void cutlass::device_kernel<flash::FlashAttnFwdSm90<...>>", KernelKind::kAttention,
             kYes},
        Case{"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<...>",
             KernelKind::kAttention, kYes},
        Case{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_128x128x64",
             KernelKind::kAttention, kYes},
        Case{"sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64",
             KernelKind::kConvolution, kYes},
        Case{"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64", KernelKind::kGemm, kYes},
        Case{
            "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize256x64x8_stage3_"
            "warpsize2x2x1_g1_ffma_aligna4_alignc4_execute_kernel__5x_cudnn",
            KernelKind::kConvolution, kNo},
        Case{"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x64x32_"
             "stage3_warpsize2x2x1_g1_tensor16x8x8_execute_kernel__5x_cudnn",
             KernelKind::kConvolution, kYes},
        Case{"sm80_xmma_gemm_cf32cf32_f32f32_cf32_tn_n_tilesize64x64x8_stage3_warpsize2x2x1_ffma_"
             "aligna8_alignc8_execute_kernel__5x_cudnn",
             KernelKind::kConvolution, kNo},
        Case{"void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)",
             KernelKind::kConvolution, kNo},
        Case{"void wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(int)",
             KernelKind::kConvolution, kNo},
        Case{"void LSTM_elementWise_bp1<float, float, float>(int)", KernelKind::kRecurrent, kNo},
        Case{"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n", KernelKind::kGemm, kYes},
        Case{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n", KernelKind::kGemm, kNo},
        Case{"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>",
             KernelKind::kGemm, kYes},
        Case{"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2>",
             KernelKind::kGemm, kYes},
        Case{"ampere_sgemm_128x64_tn", KernelKind::kGemm, kNo},
        Case{"ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5_tn", KernelKind::kGemm, kYes},
        Case{"void gemv2T_kernel_val<int, int, float>", KernelKind::kGemm, kNo},
        Case{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
             KernelKind::kCommunication, kNo},
        Case{"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<...>>",
             KernelKind::kElementwise, kNo},
        Case{"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<...>>",
             KernelKind::kReduction, kNo},
        Case{"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>",
             KernelKind::kNormalization, kNo},
        Case{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<...FusedAdam...>",
             KernelKind::kOptimizer, kNo},
        Case{"triton_poi_fused_add_relu_0", KernelKind::kElementwise, kNo},
        Case{"triton_per_fused_native_layer_norm_3", KernelKind::kNormalization, kNo},
        Case{"void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, true>",
             KernelKind::kSoftmax, kNo},
        Case{"my_own_kernel", KernelKind::kOther, TensorCoreUse::kUnknown}));

KernelPrecision PrecisionOf(std::string_view name) { return ClassifyKernel(name).precision; }

TEST(KernelClass, Precision) {
  EXPECT_EQ(PrecisionOf("ampere_sgemm_128x64_tn"), KernelPrecision::kFp32);
  EXPECT_EQ(PrecisionOf("void gemv2T_kernel_val<int, int, float>"), KernelPrecision::kUnknown);
  EXPECT_EQ(PrecisionOf("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n"), KernelPrecision::kFp32);
  EXPECT_EQ(PrecisionOf("fmha_cutlassB_f32_aligned_64x64_k64_sm80(AttentionBackwardKernel)"),
            KernelPrecision::kFp32);
  EXPECT_EQ(PrecisionOf("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n"), KernelPrecision::kTf32);
  EXPECT_EQ(PrecisionOf("cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>"),
            KernelPrecision::kTf32);
  EXPECT_EQ(PrecisionOf("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n"), KernelPrecision::kHalf);
  EXPECT_EQ(PrecisionOf("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1>"),
            KernelPrecision::kHalf);
  // Of what multiplies nothing it is not asked.
  EXPECT_EQ(PrecisionOf("void at::native::vectorized_elementwise_kernel<4, at::Half>"),
            KernelPrecision::kUnknown);
}

TEST(KernelClass, MemoryEfficientAttention) {
  const auto is = [](std::string_view name) { return ClassifyKernel(name).memory_efficient; };
  EXPECT_TRUE(
      is("fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel"));
  EXPECT_TRUE(is("fmha_cutlassB_f16_aligned_64x64_k64_seqaligned_sm80(PyTorchMemEffAttention"));
  EXPECT_FALSE(is("fmha_cutlassB_f32_aligned_64x64_k64_sm80(AttentionBackwardKernel)"));
  EXPECT_FALSE(is("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4"));
  EXPECT_FALSE(is("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64"));
}

TEST(KernelClass, Layout) {
  const auto layout = [](std::string_view name) { return ClassifyKernel(name).layout; };
  EXPECT_EQ(layout("void cudnn::ops::nchwToNhwcKernel<float>"), KernelLayout::kConversion);
  EXPECT_EQ(layout("void tensorTransformGeneric<float>"), KernelLayout::kRepacking);
  EXPECT_EQ(layout("void at::native::batch_norm_backward_kernel<float>"), KernelLayout::kNchw);
  EXPECT_EQ(layout("void at::native::batch_norm_transform_channels_last_kernel<float>"),
            KernelLayout::kAny);
  EXPECT_EQ(layout("void at::native::conv_depthwise2d_forward_kernel<float>"), KernelLayout::kNchw);
  EXPECT_EQ(layout("ampere_sgemm_128x64_tn"), KernelLayout::kAny);
}

TEST(KernelClass, AlignmentAndCompilation) {
  EXPECT_TRUE(ClassifyKernel("cutlass_75_tensorop_bf16_s1688gemm_tn_align1>").unaligned);
  EXPECT_FALSE(ClassifyKernel("cutlass_80_tensorop_s1688gemm_nn_align4>").unaligned);
  EXPECT_FALSE(ClassifyKernel("cutlass_simt_sgemm_nn_align1>").unaligned);  // not on Tensor Cores
  EXPECT_TRUE(ClassifyKernel("triton_poi_fused_add_relu_0").compiled);
  EXPECT_FALSE(ClassifyKernel("void at::native::elementwise_kernel").compiled);
}

TEST(KernelClass, NcclKernels) {
  EXPECT_TRUE(IsNcclKernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"));
  EXPECT_FALSE(IsNcclKernel("my_nccl_like_kernel"));
  EXPECT_EQ(NcclElementType("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)"),
            "bf16");
  EXPECT_EQ(NcclElementType("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"), "");
}

TEST(KernelRules, EveryRuleIsReachableAndNamed) {
  std::set<std::string_view> ids;
  for (const KernelRule& rule : KernelRules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.first.empty()) << rule.id;
  }
}

}  // namespace
}  // namespace batchlight
