#include "analysis/cuda/kernel_class.h"

#include <algorithm>
#include <initializer_list>

namespace batchlight {
namespace {

constexpr TensorCoreUse kYes = TensorCoreUse::kYes;
constexpr TensorCoreUse kNo = TensorCoreUse::kNo;
constexpr TensorCoreUse kUnknown = TensorCoreUse::kUnknown;
using enum KernelKind;

constexpr std::string_view kNcclPrefix = "nccl";

// Order matters: special before general. Substrings such as h884, s1688, 16816 are the shapes of
// the mma instructions in the names of cuBLAS and cuDNN kernels before Hopper.
constexpr KernelRule kRules[] = {
    {"nccl", kNcclPrefix, "", true, kCommunication, kNo},
    {"nvshmem", "nvshmem", "", true, kCommunication, kNo},
    {"custom-all-reduce", "cross_device_reduce", "", false, kCommunication, kNo},
    {"symmetric-memory", "one_shot_all_reduce", "", false, kCommunication, kNo},
    {"symmetric-memory-two-shot", "two_shot_all_reduce", "", false, kCommunication, kNo},
    {"symmetric-memory-multimem", "multimem_", "", false, kCommunication, kNo},

    {"flash-prepare", "flash_bwd_dot_do_o", "", false, kAttention, kNo},
    {"flash-convert", "flash_bwd_convert_dq", "", false, kAttention, kNo},
    {"flash-fwd", "flash_fwd", "", false, kAttention, kYes},
    {"flash-bwd", "flash_bwd", "", false, kAttention, kYes},
    {"flash3-preprocess", "FlashAttnBwdPreprocess", "", false, kAttention, kNo},
    {"flash3-postprocess", "FlashAttnBwdPostprocess", "", false, kAttention, kNo},
    {"flash3", "FlashAttn", "", false, kAttention, kYes},
    {"fmha-simt", "fmha", "simt", false, kAttention, kNo},
    {"fmha-f32", "fmha_cutlassF_f32", "sm50", false, kAttention, kNo},
    {"fmha-cutlass", "fmha_cutlass", "", false, kAttention, kYes},
    {"fmha", "fmha", "", false, kAttention, kYes},
    {"cudnn-sdpa", "cudnn", "sdpa", false, kAttention, kYes},
    {"cudnn-flash", "cudnn", "flash", false, kAttention, kYes},
    {"triton-attention", "triton_tem", "attention", false, kAttention, kUnknown},

    {"nvjet", "nvjet_", "", false, kGemm, kYes},
    // ffma: on the ordinary cores. The complex ones (cf32) are convolutions by Fourier transform.
    {"xmma-ffma-fprop", "xmma_fprop", "_ffma_", false, kConvolution, kNo},
    {"xmma-ffma-dgrad", "xmma_dgrad", "_ffma_", false, kConvolution, kNo},
    {"xmma-ffma-wgrad", "xmma_wgrad", "_ffma_", false, kConvolution, kNo},
    {"xmma-ffma-fourier", "xmma_gemm_cf32cf32", "_ffma_", false, kConvolution, kNo},
    {"xmma-ffma", "xmma_", "_ffma_", false, kGemm, kNo},
    {"xmma-simt-f32", "xmma_", "f32f32_f32f32_f32", false, kGemm, kNo},
    {"xmma-fprop", "xmma_fprop", "", false, kConvolution, kYes},
    {"xmma-dgrad", "xmma_dgrad", "", false, kConvolution, kYes},
    {"xmma-wgrad", "xmma_wgrad", "", false, kConvolution, kYes},
    {"xmma-implicit-gemm", "xmma_implicit_gemm", "", false, kConvolution, kYes},
    {"xmma-sparse-conv", "xmma_sparse_conv", "", false, kConvolution, kYes},
    {"xmma-gemm", "xmma_gemm", "", false, kGemm, kYes},
    {"xmma-sparse-gemm", "xmma_sparse_gemm", "", false, kGemm, kYes},
    {"xmma-warp-specialized", "xmma_warp_specialized", "", false, kConvolution, kYes},
    {"cutlass-conv-tensorop", "tensorop", "fprop", false, kConvolution, kYes},
    {"cutlass-dgrad-tensorop", "tensorop", "dgrad", false, kConvolution, kYes},
    {"cutlass-wgrad-tensorop", "tensorop", "wgrad", false, kConvolution, kYes},
    {"cutlass-tensorop", "tensorop", "", false, kGemm, kYes},
    {"cutlass-wmma", "cutlass", "wmma", false, kGemm, kYes},
    {"cutlass-wgmma", "wgmma", "", false, kGemm, kYes},
    {"cutlass-gmma", "gmma", "", false, kGemm, kYes},
    {"cutlass-conv-mma", "ImplicitGemmConvolution", "MmaTensorOp", false, kConvolution, kYes},
    {"cutlass-conv-gemm", "ImplicitGemmConvolution", "", false, kConvolution, kUnknown},
    {"cutlass-mma", "cutlass", "MmaTensorOp", false, kGemm, kYes},
    {"cutlass-simt-conv", "cutlass", "simt_fprop", false, kConvolution, kNo},
    {"cutlass-simt", "cutlass", "simt", false, kGemm, kNo},
    {"cutlass3-conv", "cutlass::device_kernel", "conv", false, kConvolution, kYes},
    {"cutlass3-gemm", "cutlass::device_kernel", "gemm", false, kGemm, kYes},
    {"deep-gemm", "deep_gemm", "", false, kGemm, kYes},
    {"cudnn-conv-h884", "h884cudnn", "", false, kConvolution, kYes},
    {"cudnn-conv-s884", "s884cudnn", "", false, kConvolution, kYes},
    {"cudnn-conv-h1688", "h1688cudnn", "", false, kConvolution, kYes},
    {"cudnn-conv-s1688", "s1688cudnn", "", false, kConvolution, kYes},
    {"cudnn-conv-16816", "16816cudnn", "", false, kConvolution, kYes},
    {"cudnn-conv1x1", "conv1x1", "", false, kConvolution, kYes},
    {"cudnn-conv2d-c1", "conv2d_c1_k1", "", false, kConvolution, kYes},
    {"cudnn-first-layer", "first_layer_wgrad_kernel", "", false, kConvolution, kYes},
    {"cudnn-dgrad-stride2", "dgrad_1x1_stride_2x2", "", false, kConvolution, kYes},
    {"cudnn-direct-group", "direct_group", "", false, kConvolution, kYes},
    {"mma-h884", "h884", "", false, kGemm, kYes},
    {"mma-s884", "s884", "", false, kGemm, kYes},
    {"mma-d884", "d884", "", false, kGemm, kYes},
    {"mma-h1688", "h1688", "", false, kGemm, kYes},
    {"mma-s1688", "s1688", "", false, kGemm, kYes},
    {"mma-c1688", "c1688", "", false, kGemm, kYes},
    {"mma-i8816", "i8816", "", false, kGemm, kYes},
    {"mma-16816", "16816", "", false, kGemm, kYes},
    {"mma-hmma", "hmma", "", false, kGemm, kYes},
    {"mma-imma", "imma", "", false, kGemm, kYes},
    {"mma-dmma", "dmma", "", false, kGemm, kYes},

    {"recurrent-persist", "RNN_blockPersist", "", false, kRecurrent, kUnknown},
    {"recurrent-cell", "RNNcell", "", false, kRecurrent, kNo},
    {"recurrent-lstm-cudnn", "LSTM_", "", false, kRecurrent, kNo},
    {"recurrent-lstm", "lstm", "", false, kRecurrent, kNo},
    {"recurrent-gru", "gru_", "", false, kRecurrent, kNo},

    {"conv-winograd", "winograd", "", false, kConvolution, kNo},
    {"conv-implicit-sgemm", "implicit_convolve_sgemm", "", false, kConvolution, kNo},
    {"conv-convolve", "convolve", "", false, kConvolution, kNo},
    {"conv-depthwise", "conv_depthwise", "", false, kConvolution, kNo},
    {"conv-wgrad2d", "wgrad2d", "", false, kConvolution, kNo},
    {"conv-dgrad2d", "dgrad2d", "", false, kConvolution, kNo},
    {"conv-dgrad-engine", "dgrad_engine", "", false, kConvolution, kNo},
    {"conv-wgrad-engine", "wgrad_alg", "", false, kConvolution, kNo},
    {"conv-scale", "scalePackedTensor", "", false, kConvolution, kNo},
    {"conv-fft", "fft2d_", "", false, kConvolution, kNo},
    {"layout-nchw", "nchwToNhwc", "", false, kCopy, kNo},
    {"layout-nhwc", "nhwcToNchw", "", false, kCopy, kNo},
    {"cudnn-transform", "tensorTransformGeneric", "", false, kCopy, kNo},

    {"gemm-splitk-reduce", "splitKreduce", "", false, kGemm, kNo},
    {"gemm-sgemm", "sgemm", "", false, kGemm, kNo},
    {"gemm-dgemm", "dgemm", "", false, kGemm, kNo},
    {"gemm-gemv", "gemv", "", false, kGemm, kNo},
    {"gemm-dot", "dot_kernel", "", false, kGemm, kNo},
    {"gemm-small", "gemmSN", "", false, kGemm, kNo},
    {"gemm-k1", "gemmk1", "", false, kGemm, kNo},

    {"triton-mm", "triton_tem_fused", "mm", false, kGemm, kUnknown},
    {"triton-template", "triton_tem", "", false, kOther, kUnknown},
    {"triton-optimizer", "triton_for_fused", "", false, kOptimizer, kNo},
    {"triton-norm-reduction", "triton_per_fused", "norm", false, kNormalization, kNo},
    {"triton-norm", "triton_red_fused", "norm", false, kNormalization, kNo},
    {"triton-softmax", "triton_", "softmax", false, kSoftmax, kNo},
    {"triton-pointwise", "triton_poi", "", false, kElementwise, kNo},
    {"triton-persistent", "triton_per", "", false, kReduction, kNo},
    {"triton-reduction", "triton_red", "", false, kReduction, kNo},
    {"triton-mix", "triton_mix", "", false, kReduction, kNo},
    {"triton", "triton_", "", false, kOther, kUnknown},

    {"optimizer-multi-tensor", "multi_tensor_apply", "", false, kOptimizer, kNo},
    {"optimizer-adam", "adam", "", false, kOptimizer, kNo},
    {"optimizer-fused", "FusedOptimizer", "", false, kOptimizer, kNo},
    {"norm-layer", "layer_norm", "", false, kNormalization, kNo},
    {"norm-layer-class", "LayerNorm", "", false, kNormalization, kNo},
    {"norm-layer-gradient", "GammaBeta", "", false, kNormalization, kNo},
    {"norm-moments", "RowwiseMoments", "", false, kNormalization, kNo},
    {"norm-rms", "rms_norm", "", false, kNormalization, kNo},
    {"norm-rms-class", "RMSNorm", "", false, kNormalization, kNo},
    {"norm-group", "GroupNorm", "", false, kNormalization, kNo},
    {"norm-batch", "batch_norm", "", false, kNormalization, kNo},
    {"norm-batch-cudnn-fw", "bn_fw", "", false, kNormalization, kNo},
    {"norm-batch-cudnn-bw", "bn_bw", "", false, kNormalization, kNo},
    {"softmax", "softmax", "", false, kSoftmax, kNo},
    {"softmax-class", "SoftMax", "", false, kSoftmax, kNo},
    {"loss-nll", "nll_loss", "", false, kLoss, kNo},
    {"loss-entropy", "cross_entropy", "", false, kLoss, kNo},
    {"random-dropout", "dropout", "", false, kRandom, kNo},
    {"random-distribution", "distribution_", "", false, kRandom, kNo},
    {"indexing-embedding", "mbedding", "", false, kIndexing, kNo},
    {"indexing-select", "indexSelect", "", false, kIndexing, kNo},
    {"indexing-index", "index_", "", false, kIndexing, kNo},
    {"indexing-gather", "gather", "", false, kIndexing, kNo},
    {"indexing-scatter", "scatter", "", false, kIndexing, kNo},
    {"sort-radix", "adixSort", "", false, kSort, kNo},
    {"sort", "sort", "", false, kSort, kNo},
    {"sort-topk", "topk", "", false, kSort, kNo},
    {"reduction", "reduce_kernel", "", false, kReduction, kNo},
    {"reduction-cub", "DeviceReduce", "", false, kReduction, kNo},
    {"reduction-scan", "scan", "", false, kReduction, kNo},
    {"copy-cat", "CatArrayBatchedCopy", "", false, kCopy, kNo},
    {"copy-direct", "direct_copy", "", false, kCopy, kNo},
    {"copy-bfloat16", "bfloat16_copy", "", false, kCopy, kNo},
    {"copy-float8", "float8_copy", "", false, kCopy, kNo},
    {"copy-transpose", "transpose", "", false, kCopy, kNo},
    {"copy", "copy_kernel", "", false, kCopy, kNo},
    {"elementwise", "elementwise", "", false, kElementwise, kNo},
    {"elementwise-pointwise", "pointwise", "", false, kElementwise, kNo},
    {"elementwise-foreach", "foreach", "", false, kElementwise, kNo},
    {"elementwise-fill", "FillFunctor", "", false, kElementwise, kNo},
    {"aten", "at::native::", "", false, kOther, kNo},
};

bool HoldsAny(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != name.npos; });
}

// cuBLAS: "nvjet_hsh_..." and "nvjet_sm90_tst_...": types of input, sum and output, s for FP32 (on
// Tensor Cores TF32), h for FP16, t for BF16.
KernelPrecision PrecisionOfNvjet(std::string_view name) {
  constexpr std::string_view kNvjet = "nvjet_";
  const size_t at = name.find(kNvjet);
  if (at == name.npos) return KernelPrecision::kUnknown;
  std::string_view types = name.substr(at + kNvjet.size());
  if (types.starts_with("sm")) types.remove_prefix(std::min(types.size(), types.find('_') + 1));
  if (types.starts_with("ss")) return KernelPrecision::kTf32;
  const bool half = types.starts_with("h") || types.starts_with("t");
  return half ? KernelPrecision::kHalf : KernelPrecision::kUnknown;
}

KernelPrecision PrecisionOf(const KernelClass& found, std::string_view name) {
  if (!found.is_matrix()) return KernelPrecision::kUnknown;
  if (found.tensor_core == kNo &&
      HoldsAny(name, {"sgemm", "f32f32_f32f32_f32", "simt_s", "_f32_", "<float", "cf32cf32"})) {
    return KernelPrecision::kFp32;
  }
  // PyTorch's memory-efficient attention, which it takes for FP32.
  if (found.kind == kAttention && HoldsAny(name, {"fmha_cutlass"}) && HoldsAny(name, {"_f32_"})) {
    return KernelPrecision::kFp32;
  }
  if (HoldsAny(name, {"f16", "half"})) return KernelPrecision::kHalf;
  if (HoldsAny(name, {"tf32", "s1688gemm", "s1688fprop"})) return KernelPrecision::kTf32;
  return PrecisionOfNvjet(name);
}

KernelLayout LayoutOf(const KernelClass& found, std::string_view name) {
  if (found.rule_id.starts_with("layout-")) return KernelLayout::kConversion;
  if (found.rule_id == "cudnn-transform") return KernelLayout::kRepacking;
  // PyTorch's and cuDNN's kernels for NHWC say so in their names.
  const bool prefers_nhwc =
      found.rule_id == "conv-depthwise" || found.rule_id.starts_with("norm-batch");
  return prefers_nhwc && !HoldsAny(name, {"channels_last", "nhwc", "NHWC"}) ? KernelLayout::kNchw
                                                                            : KernelLayout::kAny;
}

// cuBLAS and cuDNN name the alignment, in elements, that a kernel may count on.
bool IsUnaligned(const KernelClass& found, std::string_view name) {
  return found.is_matrix() && found.tensor_core == kYes &&
         HoldsAny(name, {"_align1>", "_align2>", "_aligna1_", "_aligna2_"});
}

KernelClass MatchRules(std::string_view name) {
  for (const KernelRule& rule : kRules) {
    const bool first =
        rule.prefix ? name.starts_with(rule.first) : name.find(rule.first) != name.npos;
    if (first && (rule.second.empty() || name.find(rule.second) != name.npos)) {
      return {.kind = rule.kind, .tensor_core = rule.tensor_core, .rule_id = rule.id};
    }
  }
  return {};
}

}  // namespace

std::span<const KernelRule> KernelRules() { return kRules; }

bool IsNcclKernel(std::string_view name) { return name.starts_with(kNcclPrefix); }

std::string_view NcclElementType(std::string_view name) {
  // Of the ncclDataType_t as NCCL's generated kernels spell them (src/device/generate.py).
  static constexpr std::string_view kTypes[] = {"i8",  "u8",  "i32", "u32",  "i64",    "u64",
                                                "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2"};
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find_first_of("_("));
    if (std::find(std::begin(kTypes), std::end(kTypes), part) != std::end(kTypes)) return part;
    name.remove_prefix(std::min(name.size(), part.size() + 1));
  }
  return {};
}

KernelClass ClassifyKernel(std::string_view name) {
  KernelClass found = MatchRules(name);
  found.precision = PrecisionOf(found, name);
  found.layout = LayoutOf(found, name);
  found.unaligned = IsUnaligned(found, name);
  found.compiled = name.starts_with("triton_");
  found.cudnn_attention = found.rule_id == "cudnn-sdpa";
  found.memory_efficient =
      found.rule_id == "fmha-cutlass" && found.precision == KernelPrecision::kHalf;
  return found;
}

std::string_view KernelKindName(KernelKind kind) {
  switch (kind) {
    case kGemm:
      return "gemm";
    case kConvolution:
      return "convolution";
    case kAttention:
      return "attention";
    case kNormalization:
      return "normalization";
    case kSoftmax:
      return "softmax";
    case kLoss:
      return "loss";
    case kElementwise:
      return "elementwise";
    case kReduction:
      return "reduction";
    case kIndexing:
      return "indexing";
    case kOptimizer:
      return "optimizer";
    case kRecurrent:
      return "recurrent";
    case kCopy:
      return "copy";
    case kRandom:
      return "random";
    case kSort:
      return "sort";
    case kCommunication:
      return "communication";
    case kOther:
      break;
  }
  return "other";
}

}  // namespace batchlight
