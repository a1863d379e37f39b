// What a kernel does, whether it runs on Tensor Cores, in which precision and on which layout, from
// its name alone (no counters). Nothing else looks into the names of kernels. The rules know the
// names that today's libraries use (cuBLAS nvjet and xmma, CUTLASS 2 and 3, cuDNN, flash attention,
// Triton, NCCL, ATen); each has an id, so that a reader can see what decided.
#pragma once

#include <span>
#include <string_view>

namespace batchlight {

enum class KernelKind {
  kOther,
  kGemm,
  kConvolution,
  kAttention,
  kNormalization,
  kSoftmax,
  kLoss,
  kElementwise,
  kReduction,
  kIndexing,  // embedding, gather, scatter, index
  kOptimizer,
  kRecurrent,
  kCopy,
  kRandom,
  kSort,
  kCommunication,
};

enum class TensorCoreUse { kNo, kYes, kUnknown };

// Of the numbers that are multiplied, as the names of products, convolutions and attention tell it.
enum class KernelPrecision { kUnknown, kFp32, kTf32, kHalf };  // half: FP16 or BF16

enum class KernelLayout {
  kAny,         // does not matter, or is not known
  kNchw,        // on NCHW, and much faster on NHWC
  kConversion,  // from one to the other, around a convolution
  kRepacking,   // by cuDNN itself, in any layout
};

// A kernel matches when its name holds `first` and, if not empty, `second` too. `prefix`: `first`
// must stand at the beginning. The first matching rule decides.
struct KernelRule {
  std::string_view id;
  std::string_view first;
  std::string_view second;
  bool prefix;
  KernelKind kind;
  TensorCoreUse tensor_core;
};

struct KernelClass {
  KernelKind kind = KernelKind::kOther;
  TensorCoreUse tensor_core = TensorCoreUse::kUnknown;
  std::string_view rule_id = "none";
  KernelPrecision precision = KernelPrecision::kUnknown;
  KernelLayout layout = KernelLayout::kAny;
  bool unaligned = false;  // a product on Tensor Cores whose rows start on 2 or 4 bytes
  bool compiled = false;   // by Triton, for torch.compile
  // PyTorch's memory-efficient attention in 16 bits: it takes masks, where FlashAttention does not.
  bool memory_efficient = false;
  bool cudnn_attention = false;  // cuDNN's, which takes masks too

  // A product, a convolution or attention: what Tensor Cores are for.
  bool is_matrix() const {
    return kind == KernelKind::kGemm || kind == KernelKind::kConvolution ||
           kind == KernelKind::kAttention;
  }
};

// `name`: demangled or mangled. Cost: a scan of the rule table; classify distinct names only.
KernelClass ClassifyKernel(std::string_view name);
// The first rule alone, for passes over kernels. `name`: without "void " or a namespace before it.
bool IsNcclKernel(std::string_view name);
// "bf16" of ncclDevKernel_AllReduce_Sum_bf16_RING_LL; empty where the name has none.
std::string_view NcclElementType(std::string_view name);

std::span<const KernelRule> KernelRules();
std::string_view KernelKindName(KernelKind kind);  // "gemm", "elementwise"

}  // namespace batchlight
