// Rows of operators in forward that one call would do, or half of them (forward/forward_parts.h).
#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {
namespace {

double CallsPerStep(const RunMeasures& run, const ForwardPart& part) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty()) return 0;
  return double(part.count) / double(main->steady.size());
}

// On the GPU where there is one.
double PerStepNs(const RunMeasures& run, const ForwardPart& part) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty()) return 0;
  return double(run.gpu.empty() ? part.cpu_ns : part.gpu_ns) / double(main->steady.size());
}

// By which a step would be shorter without it.
double RemovableNsOf(const RunMeasures& run, const ForwardPart& part) {
  const double per_step_ns = PerStepNs(run, part);
  return run.gpu.empty() ? per_step_ns : WithinCpuSlack(run, EffectiveNs(run, per_step_ns));
}

std::string In(const RunMeasures& run, const ForwardPart& part, std::string_view first) {
  if (part.module.IsNone()) return "";
  return std::string(first) + '`' + std::string(run.store->Text(part.module)) + '`';
}

std::vector<Evidence> EvidenceOf(const RunMeasures& run, const ForwardPart& part) {
  return {{.kind = "module",
           .name = std::string(run.store->Text(part.module)),
           .count = part.count,
           .per_step_ns = PerStepNs(run, part)}};
}

}  // namespace

bool IsAttentionWrittenOut(const RunMeasures& run) {
  const ForwardPart& attention = run.forward_parts.attention;
  if (CallsPerStep(run, attention) < kCallOfEveryStep) return false;
  // Before 2.0 there is nothing fused; on the CPU it is not with dropout.
  if (!TrainingProperty(run, "torch.version").empty() && !HasPyTorch(run, 2, 0)) return false;
  if (run.gpu.empty() && run.forward_parts.attention_drops) return false;
  return PerStepNs(run, attention) >= kAttentionShare * MeanStepNs(run);
}

void WrittenOutAttention(const RunMeasures& run, Findings* findings) {
  if (!IsAttentionWrittenOut(run)) return;
  const ForwardPart& found = run.forward_parts.attention;
  const double per_step_ns = PerStepNs(run, found), step_ns = MeanStepNs(run);
  const double removable_ns = RemovableNsOf(run, found);
  const double gain_ns = removable_ns * kAttentionGain;
  if (!CanBeSeen(run, gain_ns)) return;
  const double calls = CallsPerStep(run, found);
  const std::string_view name = run.store->Text(found.class_name);
  const std::string who =
      name.empty() ? "Attention" : "The attention of `" + std::string(name) + '`';
  const std::string share = PercentOf(per_step_ns / step_ns);
  const bool of_pytorch = name == "MultiheadAttention";
  findings->push_back(
      {.title = who + " is written out: its scores take " + share + " of a step",
       .seen = Rounded(calls) + " times a step a softmax stands between two batched products" +
               In(run, found, ", first in ") +
               "; what lies between them and goes into them (scale, mask, softmax, conversions)" +
               (found.learns ? " and its backward take " : " takes ") + TimeOf(per_step_ns) +
               " of a step (" + share + ").",
       .why = "The scores, a number for each pair of positions, are written to memory and read "
              "again by each of these operators; a fused attention never does.",
       .action =
           of_pytorch
               ? "Call it with need_weights=False, so that it takes the fused attention; with "
                 "is_causal=True besides where the mask is that of positions that see those "
                 "before them, so that it needs no mask."
               : "torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask), "
                 "is_causal=True instead of the mask where a position sees those before it; "
                 "of transformers' models attn_implementation=\"sdpa\".",
       .gain_ns = gain_ns,
       .uncertainty_ns = removable_ns * kAttentionUncertainty,
       .evidence = EvidenceOf(run, found),
       .patch = {
           .place = "",
           .diff =
               of_pytorch
                   ? "-y, _ = attention(q, k, v)\n+y, _ = attention(q, k, v, need_weights=False)\n"
                   : "-scores = (q @ k.transpose(-2, -1)) * scale\n"
                     "-scores = scores.masked_fill(mask == 0, float(\"-inf\"))\n"
                     "-y = F.softmax(scores, dim=-1) @ v\n"
                     "+y = F.scaled_dot_product_attention(q, k, v, is_causal=True)\n"}});
}

void IgnoredTargets(const RunMeasures& run, Findings* findings) {
  const double ignored = NumberProperty(run, "data.ignored_targets");
  const ForwardPart& head = run.forward_parts.head;
  if (ignored < kIgnoredTargets || run.forward_parts.head_of_chosen) return;
  if (CallsPerStep(run, head) < kCallOfEveryStep) return;
  const double per_step_ns = PerStepNs(run, head), step_ns = MeanStepNs(run);
  if (per_step_ns < kHeadShare * step_ns) return;
  const double gain_ns = RemovableNsOf(run, head) * ignored * kIgnoredTargetsGain;
  if (!CanBeSeen(run, gain_ns)) return;
  const std::string share = PercentOf(per_step_ns / step_ns);
  findings->push_back(
      {.title = "The head makes scores for all positions, and the loss leaves out " +
                PercentOf(ignored) + " of them",
       .seen = "Of the targets in the batches looked at, " + PercentOf(ignored) +
               " are -100. The last product before the cross entropy" + In(run, head, ", in ") +
               ", the loss and what lies between" +
               (head.learns ? ", with their backward, take " : " take ") + TimeOf(per_step_ns) +
               " of a step (" + share + ").",
       .why = "Each position gets a score for each class or word; where the target is -100 "
              "(ignore_index) these change no parameter.",
       .action = "Choose the positions that have a target before the head, and give it only "
                 "these: of labels as the loss sees them, shifted by one in causal models. On a "
                 "GPU choose by indices made with the batch: a mask of its own makes the CPU wait.",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kIgnoredTargetsUncertainty,
       .evidence = EvidenceOf(run, head),
       .patch = {.place = "",
                 .diff = "-scores = head(hidden)\n"
                         "-loss = F.cross_entropy(scores.flatten(0, 1), labels.flatten())\n"
                         "+chosen = labels.flatten() != -100\n"
                         "+scores = head(hidden.flatten(0, 1)[chosen])\n"
                         "+loss = F.cross_entropy(scores, labels.flatten()[chosen])\n"}});
}

}  // namespace batchlight::advice
