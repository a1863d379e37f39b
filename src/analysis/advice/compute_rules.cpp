#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {
namespace {

// Kernels chosen by a test, with their share of kernel time.
struct Selection {
  double per_step_ns = 0;
  double share = 0;
  std::vector<Evidence> evidence;
};

template <typename Test>
Selection Select(const RunOverview& overview, Test&& test) {
  Selection selection;
  for (const KernelRow& kernel : overview.gpu.kernels) {
    if (!test(kernel, overview.store->Text(kernel.name))) continue;
    selection.per_step_ns += kernel.per_step_ns;
    selection.share += kernel.share;
    if (selection.evidence.size() >= 5) continue;
    selection.evidence.push_back({.kind = "kernel",
                                  .name = std::string(overview.store->Text(kernel.short_name)),
                                  .count = kernel.calls,
                                  .per_step_ns = kernel.per_step_ns});
  }
  return selection;
}

bool IsMatrixKind(KernelKind kind) {
  return kind == KernelKind::kGemm || kind == KernelKind::kConvolution ||
         kind == KernelKind::kAttention;
}

bool IsFp32WithoutTensorCores(const KernelRow& kernel, std::string_view name) {
  if (!IsMatrixKind(kernel.kind.kind) || kernel.kind.tensor_core != TensorCoreUse::kNo)
    return false;
  return name.find("sgemm") != name.npos || name.find("f32f32_f32f32_f32") != name.npos ||
         name.find("simt_s") != name.npos || name.find("_f32_") != name.npos;
}

bool HasTf32(const RunOverview& overview) {
  return overview.store->gpus.size() > 0 && overview.store->gpus.compute_major[0] >= 8;
}

// Part of the GPU's time by which a kernel's becoming shorter shortens the step: the GPU must be
// what the step waits for.
double Effective(const RunOverview& overview, double kernel_ns) {
  const GpuBreakdown* gpu = overview.gpu.MainBreakdown();
  return gpu == nullptr ? 0 : kernel_ns * gpu->busy_share;
}

}  // namespace

void Tf32Off(const RunOverview& overview, Findings* findings) {
  if (!HasTf32(overview)) return;
  Selection fp32 = Select(overview, IsFp32WithoutTensorCores);
  if (fp32.share < 0.1) return;
  const double gain_ns = Effective(overview, fp32.per_step_ns) * 0.75;
  findings->push_back(
      {.title = "FP32 matrix products do not use Tensor Cores",
       .seen = PercentOf(fp32.share) + " of kernel time is matrix products in full FP32.",
       .why = "TF32 keeps FP32's range and runs them on Tensor Cores, 4 to 8 times as fast.",
       .action =
           "torch.set_float32_matmul_precision(\"high\") (and torch.backends.cudnn.allow_tf32 = "
           "True), or mixed precision.",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * 0.3,
       .evidence = std::move(fp32.evidence)});
}

void MixedPrecisionOff(const RunOverview& overview, Findings* findings) {
  if (overview.store->gpus.size() > 0 && overview.store->gpus.compute_major[0] < 7) return;
  Selection single = Select(overview, [](const KernelRow& kernel, std::string_view name) {
    return IsFp32WithoutTensorCores(kernel, name) ||
           (IsMatrixKind(kernel.kind.kind) &&
            (name.find("tf32") != name.npos || name.find("s1688gemm") != name.npos ||
             name.find("s1688fprop") != name.npos || name.find("nvjet_sss") != name.npos ||
             name.find("nvjet_ss") != name.npos));
  });
  if (single.share < 0.1) return;
  // Halving the bytes helps the kernels around them too; only the products are counted.
  const double gain_ns = Effective(overview, single.per_step_ns) * 0.6;
  findings->push_back(
      {.title = "Matrix products run in single precision",
       .seen = PercentOf(single.share) + " of kernel time is matrix products in FP32 or TF32.",
       .why = "BF16 and FP16 run at twice TF32's rate and move half the bytes.",
       .action =
           "with torch.autocast(\"cuda\", dtype=torch.bfloat16): around forward and loss (with a "
           "GradScaler for float16).",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * 0.4,
       .evidence = std::move(single.evidence)});
}

void LayoutConversions(const RunOverview& overview, Findings* findings) {
  Selection layout = Select(overview, [](const KernelRow& kernel, std::string_view) {
    return kernel.kind.rule_id.starts_with("layout-");
  });
  if (layout.share < 0.02) return;
  // The convolutions and norms around the conversions gain too, by how much is not in the
  // recording.
  const Selection around = Select(overview, [](const KernelRow& kernel, std::string_view) {
    return (kernel.kind.kind == KernelKind::kConvolution ||
            kernel.kind.kind == KernelKind::kNormalization) &&
           !kernel.kind.rule_id.starts_with("layout-");
  });
  const double layout_ns = Effective(overview, layout.per_step_ns) * 0.9;
  const double around_ns = Effective(overview, around.per_step_ns) * 0.25;
  const double gain_ns = layout_ns + around_ns;
  findings->push_back(
      {.title = "Convolutions convert the layout of their tensors",
       .seen = PercentOf(layout.share) + " of kernel time converts between NCHW and NHWC.",
       .why = "Tensor Core convolutions want NHWC; cuDNN converts inputs and outputs each time.",
       .action = "model.to(memory_format=torch.channels_last), and the same for the input batch.",
       .gain_ns = gain_ns,
       .uncertainty_ns = layout_ns * 0.3 + around_ns,
       .evidence = std::move(layout.evidence)});
}

void CudnnBenchmarkOff(const RunOverview& overview, Findings* findings) {
  if (overview.store->Property("torch.cudnn_benchmark") != "False") return;
  Selection convolutions = Select(overview, [](const KernelRow& kernel, std::string_view) {
    return kernel.kind.kind == KernelKind::kConvolution;
  });
  if (convolutions.share < 0.05) return;
  const double gain_ns = Effective(overview, convolutions.per_step_ns) * 0.1;
  findings->push_back(
      {.title = "cuDNN does not look for the fastest convolutions",
       .seen = PercentOf(convolutions.share) + " of kernel time is convolutions, and "
                                               "torch.backends.cudnn.benchmark is off.",
       .why = "With it on, cuDNN times its algorithms once for each size and keeps the fastest.",
       .action = "torch.backends.cudnn.benchmark = True, if the sizes of the inputs repeat.",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns,
       .evidence = std::move(convolutions.evidence)});
}

}  // namespace batchlight::advice
