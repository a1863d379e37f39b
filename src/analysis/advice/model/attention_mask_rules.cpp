// Causal masks that attention is given as tensors (forward/attention_masks.h).
#include <algorithm>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/kernel_evidence.h"
#include "analysis/advice/rules.h"
#include "analysis/forward/attention_masks.h"

namespace batchlight::advice {
namespace {

constexpr std::string_view kOnCpu = "aten::_scaled_dot_product_flash_attention_for_cpu";
constexpr std::string_view kOnCpuBackward =
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward";

// The attention that takes the mask, in a step.
struct MaskedWork {
  double per_step_ns = 0;
  double gain = 0;  // part of it that is_causal=True saves
  std::string_view what;
  std::vector<Evidence> evidence;
};

// FlashAttention takes no mask but the causal one that it makes itself, and 16 bits alone.
// cuDNN's takes any, and computes what they hide: where all calls have one, its kernels are theirs.
MaskedWork WorkOnGpu(const RunMeasures& run, const AttentionMasks& masks) {
  MaskedWork work;
  if (run.store->gpus.size() > 0 && run.store->gpus.compute_major[0] < 8) return work;
  const bool few = double(masks.positions) < kFewPositions, all = masks.causal == masks.calls;
  double saved_ns = 0;
  for (const KernelRow& kernel : run.gpu.kernels) {
    const bool efficient = kernel.kind.memory_efficient;
    if (kernel.per_step_ns == 0 || !(efficient || (all && kernel.kind.cudnn_attention))) continue;
    work.per_step_ns += kernel.per_step_ns;
    saved_ns += kernel.per_step_ns * (efficient ? (few ? kCausalShortGain : kCausalGain)
                                                : (few ? kCausalCudnnShortGain : kCausalCudnnGain));
    work.evidence.push_back(KernelEvidence(*run.store, kernel));
  }
  work.gain = work.per_step_ns > 0 ? saved_ns / work.per_step_ns : 0;
  work.what = "The kernels that take it need";
  return work;
}

// There FlashAttention takes masks, and skips what is hidden by blocks of 512 keys.
MaskedWork WorkOnCpu(const RunMeasures& run, const AttentionMasks& masks) {
  MaskedWork work;
  if (double(masks.positions) < kCausalCpuPositions) return work;
  for (const OperatorRow& row : run.operators.by_name) {
    const std::string_view name = run.store->Text(row.name);
    if (name != kOnCpu && name != kOnCpuBackward) continue;
    work.per_step_ns += row.total_per_step_ns;
    work.evidence.push_back({.kind = "operator",
                             .name = std::string(name),
                             .count = row.calls,
                             .per_step_ns = row.total_per_step_ns});
  }
  work.gain = kCausalCpuGain;
  work.what = "Attention takes";
  return work;
}

bool HasMultiheadAttention(const RunMeasures& run) {
  return std::any_of(run.modules.rows.begin(), run.modules.rows.end(), [](const ModuleRow& row) {
    return row.class_name == "MultiheadAttention" && row.calls_per_step > 0;
  });
}

Patch PatchFor(bool of_module) {
  return {.place = "",
          .diff = of_module ? "-y, _ = attention(x, x, x, attn_mask=mask, need_weights=False)\n"
                              "+y, _ = attention(x, x, x, attn_mask=mask, is_causal=True, "
                              "need_weights=False)\n"
                            : "-y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)\n"
                              "+y = F.scaled_dot_product_attention(q, k, v, is_causal=True)\n"};
}

std::string ActionText(bool of_module, bool is_known) {
  const std::string first =
      is_known ? ""
               : "If the mask is causal (each position sees itself and those before it, of every "
                 "sample): ";
  return first + (of_module ? "is_causal=True beside attn_mask, need_weights=False and no "
                              "key_padding_mask: the module then leaves the mask out."
                            : "scaled_dot_product_attention(q, k, v, is_causal=True) without "
                              "attn_mask; of nn.MultiheadAttention is_causal=True beside "
                              "attn_mask, with need_weights=False.");
}

std::string SeenText(const RunMeasures& run, const AttentionMasks& masks, const MaskedWork& work,
                     bool is_known) {
  const uint64_t for_all = masks.causal + masks.unknown;
  return std::to_string(for_all) + " of the " + std::to_string(masks.calls) +
         " calls of scaled_dot_product_attention that were looked at have a mask that is one for "
         "all samples and heads, " +
         std::string(masks.shape) + " (" + std::string(masks.type) + ")" +
         (is_known ? "; rows of it are those of a causal one. " : ". ") + std::string(work.what) +
         ' ' + TimeOf(work.per_step_ns) + " of a step (" +
         PercentOf(work.per_step_ns / MeanStepNs(run)) + ").";
}

}  // namespace

void CausalMask(const RunMeasures& run, Findings* findings) {
  const AttentionMasks masks = ReadAttentionMasks(TrainingProperty(run, "attention.masks"));
  const auto masked = double(masks.masked());
  if (masked == 0) return;
  // Layers may have other masks than those of which rows were looked at.
  const bool is_known = double(masks.causal) >= kCausalMasks * masked ||
                        (masks.others == 0 && 2 * masks.causal >= masks.masked());
  if (!is_known && masks.others != 0) return;
  MaskedWork work = run.gpu.empty() ? WorkOnCpu(run, masks) : WorkOnGpu(run, masks);
  if (work.per_step_ns <= 0 || work.per_step_ns < kMaskedShare * MeanStepNs(run)) return;
  const double removable_ns =
      run.gpu.empty() ? work.per_step_ns : EffectiveNs(run, work.per_step_ns);
  const double gain_ns = WithinCpuSlack(run, removable_ns * work.gain);
  if (!CanBeSeen(run, gain_ns)) return;
  const bool of_module = HasMultiheadAttention(run);
  findings->push_back(
      {.title = is_known ? "Attention computes what its causal mask hides"
                         : "Attention is given one mask for all samples, which may be causal",
       .seen = SeenText(run, masks, work, is_known),
       .why =
           run.gpu.empty()
               ? "Whether a tensor hides anything is known only when it is read: all pairs of "
                 "positions are computed, half of them for nothing."
               : "FlashAttention takes no mask that is a tensor. Slower kernels take it, compute "
                 "all pairs of positions and hide half of them.",
       .action = ActionText(of_module, is_known),
       .gain_ns = is_known ? gain_ns : 0,
       .uncertainty_ns = is_known ? removable_ns * kCausalUncertainty : 0,
       .evidence = std::move(work.evidence),
       .patch = is_known ? PatchFor(of_module) : Patch()});
}

}  // namespace batchlight::advice
