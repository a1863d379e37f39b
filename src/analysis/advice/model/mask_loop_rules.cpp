// Loops in forward whose rounds choose rows by a mask (forward/mask_loops.h).
#include <algorithm>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {
namespace {

constexpr std::string_view kSegments =
    "-out = torch.stack([f(h[group == g]).sum(0) for g in range(n)])\n"
    "+out = h.new_zeros(n, h.shape[1]).index_add(0, group, f(h))\n";

// A step, in the mean: more than one.
constexpr double kSeveralMaskLoops = 1.5;

// Where the largest is; "": not known.
std::string PlaceOfMaskLoops(const RunMeasures& run) {
  const ForwardParts& parts = run.forward_parts;
  const SampledTime sampled =
      CodeSamples(*run.store).During(run.steps.Main()->thread, parts.mask_loop_spans);
  if (!FunctionTexts(*run.store, sampled).empty()) {
    return FunctionText(*run.store, sampled.functions.front());
  }
  if (parts.mask_loops.module.IsNone()) return "";
  return '`' + std::string(run.store->Text(parts.mask_loops.module)) + '`';
}

}  // namespace

// Graphs, pictures or classes of a batch, one by one: each round looks at all rows to find its own,
// waits for how many they are, and launches for these few what could be launched once for all.
void MaskLoop(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  const ForwardParts& parts = run.forward_parts;
  if (main == nullptr || main->steady.empty() || step_ns <= 0) return;
  const auto steps = double(main->steady.size());
  const double rounds = double(parts.mask_rounds) / steps;
  double forward_ns = 0;
  for (const TimeSpan& span : parts.mask_loop_spans) {
    forward_ns += double(span.end_ns - span.start_ns);
  }
  const double loops_ns = (forward_ns + double(parts.mask_loops.backward_ns)) / steps;
  const double gain_ns =
      RemovableNs(run, loops_ns, double(parts.mask_loops.gpu_ns) / steps) * kMaskLoopGain;
  if (loops_ns < kMaskLoop * step_ns || gain_ns < kMaskLoop * kMaskLoopGain * step_ns) return;
  const std::string where = PlaceOfMaskLoops(run);
  const double loops = double(parts.mask_loop_count) / steps;
  const std::string share = PercentOf(loops_ns / step_ns);
  findings->push_back(
      {.title = (where.empty() ? std::string("A loop") : where) + " chooses rows by a mask " +
                MeanCountText(rounds) + " times a step, one after the other: " + share + " of it",
       .seen = "In forward the same operators come " + MeanCountText(rounds) + " times a step" +
               (loops < kSeveralMaskLoops
                    ? ""
                    : ", in " + MeanCountText(loops) + " loops, the longest of them there") +
               ", each time on rows that a boolean index or nonzero() chooses; with "
               "their backward that takes " +
               TimeOf(loops_ns) + " of a step (" + share + ").",
       .why = std::string("Each round looks at all rows to find a few") +
              (run.gpu.empty() ? "" : ", waits for the GPU to know how many") +
              ", and costs its calls; backward fills a tensor of all rows for each of them.",
       .action = "Do it for all groups at once: index_add, scatter_reduce or segment operations "
                 "(torch.segment_reduce, torch_scatter) over the rows, with the number of each "
                 "row's group; sort by group, or pad to the largest and mask. Where a round needs "
                 "the one before, torch.where instead of choosing rows.",
       .gain_ns = gain_ns,
       .uncertainty_ns = loops_ns * kMaskLoopUncertainty,
       .evidence = {{.kind = "module",
                     .name = std::string(run.store->Text(parts.mask_loops.module)),
                     .count = parts.mask_rounds,
                     .per_step_ns = loops_ns}},
       .patch = {.place = "", .diff = std::string(kSegments)}});
}

}  // namespace batchlight::advice
