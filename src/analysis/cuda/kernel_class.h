// What a kernel does and whether it runs on Tensor Cores, from its name alone (no counters). The
// rules know the names that today's libraries use (cuBLAS nvjet and xmma, CUTLASS 2 and 3, cuDNN,
// flash attention, Triton, NCCL, ATen); each has an id, so that a reader can see what decided.
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
};

// `name`: demangled or mangled. Cost: a scan of the rule table; classify distinct names only.
KernelClass ClassifyKernel(std::string_view name);

std::span<const KernelRule> KernelRules();
std::string_view KernelKindName(KernelKind kind);  // "gemm", "elementwise"

}  // namespace batchlight
