// Operators whose operands show that what they compute could be had of less
// (forward/seen_operands.h).
#include <algorithm>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/forward/seen_operands.h"

namespace batchlight::advice {
namespace {

// Steps of optimizers that are looked at; only the first of many calls have their numbers told.
constexpr double kStepsLookedAt = 2;

// By what these calls take of the steps in which they were looked at.
struct PerStep {
  double calls = 0;
  double cpu_ns = 0;  // in forward and backward
  double gpu_ns = 0, gpu_backward_ns = 0;
};

PerStep PerStepOf(const RunMeasures& run, const SeenOperands& seen) {
  const auto steps = double(seen.steps), found = double(seen.part.count);
  if (steps == 0 || found == 0 || seen.steps_ns <= 0) return {};
  PerStep of;
  of.calls = seen.calls > seen.named ? double(seen.calls) / std::max(steps, kStepsLookedAt)
                                     : found / steps;
  const double each = of.calls / found;
  // These steps may be longer than others.
  const double as_usual = MeanStepNs(run) * steps / double(seen.steps_ns);
  of.cpu_ns = double(seen.part.cpu_ns) * each * as_usual;
  of.gpu_ns = double(seen.part.gpu_ns) * each;
  of.gpu_backward_ns = double(seen.gpu_backward_ns) * each;
  return of;
}

// "`distances` (train.py:76)"; "" where neither samples nor a module say it.
std::string PlaceOf(const RunMeasures& run, const SeenOperands& seen) {
  const SampledTime sampled = CodeSamples(*run.store).During(run.steps.Main()->thread, seen.spans);
  if (!FunctionTexts(*run.store, sampled).empty()) {
    return FunctionText(*run.store, sampled.functions.front());
  }
  if (seen.part.module.IsNone()) return "";
  return '`' + std::string(run.store->Text(seen.part.module)) + '`';
}

// "train.py:76" of "`distances` (train.py:76)".
std::string PlaceOfPatch(const std::string& where) {
  const size_t open = where.rfind('(');
  if (open == std::string::npos || !where.ends_with(')')) return "";
  return where.substr(open + 1, where.size() - open - 2);
}

// Of a tensor of all pairs and their numbers, the sums alone are left.
double GainOfSums(const SeenOperands& seen) {
  const auto summed = double(seen.summed);
  return seen.kind == OperandKind::kAbsolute ? kAbsoluteGain * summed / (summed + kAbsoluteOfResult)
                                             : kBroadcastGain * summed / (summed + kPassesOfResult);
}

std::string_view NameOf(OperandKind kind) {
  switch (kind) {
    case OperandKind::kProduct:
      return "Scalar products";
    case OperandKind::kCosine:
      return "Cosines";
    default:
      return "Distances";
  }
}

std::string ActionFor(OperandKind kind) {
  switch (kind) {
    case OperandKind::kProduct:
      return "A product of matrices makes the sums alone: a @ b.transpose(-2, -1), torch.einsum.";
    case OperandKind::kCosine:
      return "Normalize both once and multiply: F.normalize(a, dim=-1) @ "
             "F.normalize(b, dim=-1).transpose(-2, -1).";
    case OperandKind::kAbsolute:
      return "torch.cdist(a, b, p=1) makes the sums alone.";
    case OperandKind::kNorm:
      return "torch.cdist(a, b, p) makes the sums alone; for p=2 by a product of matrices.";
    default:
      return "By a product of matrices: a² + b² - 2ab, or torch.cdist(a, b).square(). Points that "
             "lie close together lose digits by that (in 16 bits most of them): then "
             "torch.cdist(..., compute_mode=\"donot_use_mm_for_euclid_dist\").";
  }
}

std::string DiffFor(OperandKind kind) {
  switch (kind) {
    case OperandKind::kProduct:
      return "-scores = (a[:, None] * b[None]).sum(-1)\n+scores = a @ b.T\n";
    case OperandKind::kCosine:
      return "-scores = F.cosine_similarity(a[:, None], b[None], dim=-1)\n"
             "+scores = F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T\n";
    case OperandKind::kAbsolute:
      return "-d = (a[:, None] - b[None]).abs().sum(-1)\n+d = torch.cdist(a, b, p=1)\n";
    case OperandKind::kNorm:
      return "-d = (a[:, None] - b[None]).norm(dim=-1)\n+d = torch.cdist(a, b)\n";
    default:
      return "-d = (a[:, None] - b[None]).pow(2).sum(-1)\n"
             "+d = a.square().sum(-1)[:, None] + b.square().sum(-1) - 2 * a @ b.T\n"
             "+d = d.clamp_min(0)\n";
  }
}

// What operands of some kinds take of a step, and what could be had of less.
struct Costs {
  const SeenOperands* largest = nullptr;  // nullptr: none takes anything
  double largest_ns = 0, per_step_ns = 0, saved_ns = 0, calls = 0;
  bool learn = false;
  std::vector<Evidence> evidence;

  void Add(const RunMeasures& run, const SeenOperands& seen, double calls_per_step, double ns,
           double gain) {
    if (ns <= 0) return;
    per_step_ns += ns;
    saved_ns += ns * gain;
    calls += calls_per_step;
    learn = learn || seen.part.learns;
    evidence.push_back({.kind = "module",
                        .name = std::string(run.store->Text(seen.part.module)),
                        .count = seen.part.count,
                        .per_step_ns = ns});
    if (ns <= largest_ns) return;
    largest_ns = ns;
    largest = &seen;
  }
};

double AsPartOfStep(const RunMeasures& run, double ns) {
  return run.gpu.empty() ? ns : WithinCpuSlack(run, EffectiveNs(run, ns));
}

}  // namespace

void BroadcastDistances(const RunMeasures& run, Findings* findings) {
  Costs costs;
  for (const SeenOperands& seen : run.seen_operands) {
    if (seen.kind == OperandKind::kIndexed) continue;
    const PerStep of = PerStepOf(run, seen);
    costs.Add(run, seen, of.calls, run.gpu.empty() ? of.cpu_ns : of.gpu_ns, GainOfSums(seen));
  }
  const double step_ns = MeanStepNs(run);
  if (costs.largest == nullptr || costs.per_step_ns < kBroadcastShare * step_ns) return;
  const double gain_ns = AsPartOfStep(run, costs.saved_ns);
  if (!CanBeSeen(run, gain_ns)) return;
  const std::string where = PlaceOf(run, *costs.largest);
  const std::string share = PercentOf(costs.per_step_ns / step_ns);
  findings->push_back(
      {.title = (where.empty() ? "" : where + ": ") + std::string(NameOf(costs.largest->kind)) +
                " of all pairs are computed by broadcasting: " + share + " of a step",
       .seen = MeanCountText(costs.calls) +
               " times a step two tensors are broadcast against each other" + ", to " +
               std::string(costs.largest->shape) + " where it takes longest, and " +
               std::to_string(costs.largest->summed) +
               " numbers of each pair are summed up at once. That" +
               (costs.learn ? ", with its backward, takes " : " takes ") +
               TimeOf(costs.per_step_ns) + " of a step (" + share + ").",
       .why =
           "All numbers of all pairs are written to memory and read again by each operator up to "
           "the sum, and in backward.",
       .action = ActionFor(costs.largest->kind),
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kBroadcastUncertainty,
       .evidence = std::move(costs.evidence),
       .patch = {.place = PlaceOfPatch(where), .diff = DiffFor(costs.largest->kind)}});
}

// On the CPU it is as fast as any other gradient of rows.
void IndexedGradient(const RunMeasures& run, Findings* findings) {
  if (run.gpu.empty()) return;
  Costs costs;
  for (const SeenOperands& seen : run.seen_operands) {
    if (seen.kind != OperandKind::kIndexed) continue;
    const bool many = double(seen.indices) >= kManyOfARow * double(seen.rows);
    const PerStep of = PerStepOf(run, seen);
    costs.Add(run, seen, of.calls, of.gpu_backward_ns, many ? kIndexedGain : kIndexedFewGain);
  }
  const double step_ns = MeanStepNs(run);
  if (costs.largest == nullptr || costs.per_step_ns < kIndexedShare * step_ns) return;
  const double gain_ns = AsPartOfStep(run, costs.saved_ns);
  if (!CanBeSeen(run, gain_ns)) return;
  const std::string where = PlaceOf(run, *costs.largest);
  const std::string share = PercentOf(costs.per_step_ns / step_ns);
  findings->push_back(
      {.title = (where.empty() ? "" : where + ": ") +
                "The gradient of rows chosen by an index takes " + share + " of a step",
       .seen = MeanCountText(costs.calls) +
               " times a step an index chooses rows of a tensor that learns, " +
               std::to_string(costs.largest->indices) + " of " +
               std::to_string(costs.largest->rows) +
               " rows where it takes longest. Backward adds up what goes to one row "
               "(index_put with accumulate), which takes " +
               TimeOf(costs.per_step_ns) + " of a step (" + share + ").",
       .why = "For an index like tensor[i] backward sorts the indices and adds up all that go to "
              "one row one after the other, however many these are.",
       .action =
           "F.embedding(index, tensor), or tensor.index_select(0, index) of a flat index: the same "
           "rows where no index is negative, with a backward that adds up in parallel. Of few rows "
           "a product of matrices with "
           "one-hot rows does, or the work of each row by itself.",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kIndexedUncertainty,
       .evidence = std::move(costs.evidence),
       .patch = {.place = PlaceOfPatch(where),
                 .diff = "-rows = tensor[index]\n+rows = F.embedding(index, tensor)\n"}});
}

}  // namespace batchlight::advice
