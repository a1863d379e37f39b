// Forwards that could be fewer or larger: of models that learn nothing, of small batches whose
// gradients are summed up, of cells in a loop, and those that backward runs again.
#include <algorithm>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight::advice {
namespace {

// Calls of the main thread that ran in eval mode or with gradients off.
uint64_t CallsThatLearnNothing(const RunMeasures& run, ThreadId thread) {
  const PhaseCallsTable& phases = run.store->phase_calls;
  const ThreadSpans::Rows rows = ThreadSpans(phases.thread).Of(thread);
  uint64_t calls = 0;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    calls += phases.phase[row] == Phase::kEvaluationCall;
  }
  return calls;
}

// Whether all that the module called in steady steps ran with gradients off: only then have
// operators no number of autograd's.
bool RunsWithoutNumbers(const RunMeasures& run, const ProcessSteps& main, const ModuleRow& module) {
  const ModuleCallsTable& calls = run.store->module_calls;
  const OperatorCallsTable& operators = run.store->operator_calls;
  const ThreadSpans::Rows rows = ThreadSpans(operators.thread).Of(main.thread);
  StepLookup lookup(&main);
  uint32_t row = rows.begin;
  size_t seen = 0;
  for (size_t call = 0; call < calls.size(); ++call) {
    if (calls.thread[call] != main.thread || !lookup.IsSteadyAt(calls.start_ns[call])) continue;
    if (run.store->Text(calls.path[call]) != module.path) continue;
    while (row < rows.end && operators.start_ns[row] < calls.start_ns[call]) ++row;
    for (; row < rows.end && operators.start_ns[row] < calls.end_ns[call]; ++row) {
      if (HasOwnNumber(operators, row)) return false;
      ++seen;
    }
  }
  return seen > 0;
}

// A part of a model that learns, itself without a backward.
bool IsPartWithoutBackward(const ModuleSummary& modules, const ModuleRow& row) {
  return row.parent >= 0 && row.backward_ns == 0 && row.recomputed_calls == 0 &&
         modules.rows[static_cast<size_t>(row.parent)].backward_ns > 0;
}

double PerStepNs(const RunMeasures& run, const ModuleRow& row) {
  return run.gpu.empty() ? row.total_per_step_ns : row.gpu_per_step_ns;
}

}  // namespace

void FrozenForward(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->thread.IsNone() || step_ns <= 0) return;
  if (!run.modules.has_backward) return;
  const ModuleRow* frozen = nullptr;
  bool others_learn = false;
  for (const ModuleRow& row : run.modules.rows) {
    if (row.depth == 0) others_learn = others_learn || row.backward_ns > 0;
    if (row.depth != 0 && !IsPartWithoutBackward(run.modules, row)) continue;
    if (row.backward_ns > 0 || row.calls_per_step < kCallOfEveryStep) continue;
    if (frozen == nullptr || PerStepNs(run, row) > PerStepNs(run, *frozen)) frozen = &row;
  }
  if (frozen == nullptr || !others_learn) return;
  const double frozen_ns = PerStepNs(run, *frozen);
  if (frozen_ns < kFrozenShare * step_ns) return;
  if (frozen->depth == 0 ? CallsThatLearnNothing(run, main->thread) < frozen->calls
                         : !RunsWithoutNumbers(run, *main, *frozen)) {
    return;
  }
  const std::string name = '`' + frozen->path + '`';
  findings->push_back(
      {.title = name + " learns nothing and takes " + PercentOf(frozen_ns / step_ns) + " of a step",
       .seen = "It is called " + Rounded(frozen->calls_per_step) +
               " times a step without gradients, for " + TimeOf(frozen_ns) +
               ", and no backward comes back to it.",
       .why = "A model whose weights stay answers the same for the same sample, epoch after epoch.",
       .action = "Compute its answers once, before the loop or in the first epoch, and keep them "
                 "beside the samples. Where samples change each time: run it under "
                 "torch.inference_mode(), in lower precision, or compiled.",
       .gain_ns = frozen_ns * kFrozenGain,
       .uncertainty_ns = frozen_ns * kFrozenUncertainty,
       .evidence = {{.kind = "module", .name = frozen->path, .per_step_ns = frozen_ns}},
       .patch = {.place = "",
                 .diff = "-for x, y in loader:\n"
                         "-    with torch.no_grad(): target = teacher(x)\n"
                         "+targets = torch.cat([teacher(x) for x, y in loader_in_order])\n"
                         "+for x, y, target in loader_with(targets):\n"}});
}

void SmallMicroBatches(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->micro_batches < kManyMicroBatches || step_ns <= 0) return;
  double operators = 0;
  for (const OperatorRow& row : run.operators.by_name) operators += row.calls_per_step;
  if (operators <= 0) return;
  const double mean_ns = step_ns / operators;
  if (run.gpu.empty() ? mean_ns >= kSmallOperatorNs
                      : LaunchIdleNs(run) < kMicroBatchIdle * step_ns) {
    return;
  }
  const double work_ns =
      step_ns * (PhaseShareOf(run, PhaseKind::kForward) + PhaseShareOf(run, PhaseKind::kLoss) +
                 PhaseShareOf(run, PhaseKind::kBackward));
  const double gain_ns = work_ns * kMicroBatchGain;
  if (!CanBeSeen(run, gain_ns)) return;
  const std::string count = std::to_string(main->micro_batches);
  findings->push_back(
      {.title = "Gradients are summed up over " + count + " small batches",
       .seen = "A step has " + count + " forwards and backwards, " + Rounded(operators) +
               " operators of " + TimeOf(mean_ns) + " in the mean.",
       .why = "A small operator costs nearly as much for one sample as for several: the rest is "
              "its call.",
       .action = "Make the batch of a forward two to " + count +
                 " times as large, as memory allows, and accumulate so much less often; the "
                 "optimizer sees the same gradients.",
       .gain_ns = gain_ns,
       .uncertainty_ns = work_ns * kMicroBatchUncertainty,
       .evidence = {{.kind = "step", .name = "micro-batches", .count = main->micro_batches}},
       .patch = {.place = "",
                 .diff = "-DataLoader(data, batch_size=n), accumulation = " + count +
                         "\n+DataLoader(data, batch_size=4 * n), accumulation = " +
                         std::to_string(std::max<uint32_t>(1, main->micro_batches / 4)) + "\n"}});
}

// Activation checkpointing trades time for memory. Whether the memory would be there without it is
// not recorded: the finding says what the trade costs.
void RecomputedForward(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  if (step_ns <= 0 || !run.modules.has_recompute) return;
  double again_ns = 0;
  const ModuleRow* most = nullptr;
  uint32_t checkpointed = 0;
  for (const ModuleRow& row : run.modules.rows) {
    const double own_ns =
        run.gpu.empty() ? row.recompute_self_per_step_ns : row.gpu_recompute_per_step_ns;
    const bool inside = row.parent >= 0 && run.modules.rows[size_t(row.parent)].recomputed_calls;
    if (row.recomputed_calls == 0 || (inside && !run.gpu.empty())) continue;
    again_ns += own_ns;
    checkpointed += !inside;
    if (!inside && (most == nullptr || row.recompute_ns > most->recompute_ns)) most = &row;
  }
  if (most == nullptr || again_ns < kRecomputeShare * step_ns) return;
  const std::string what =
      checkpointed == 1 ? '`' + most->path + '`'
                        : std::to_string(checkpointed) + " modules (`" + most->path + "`, ...)";
  findings->push_back(
      {.title = "Backward runs the forward of " + what + " again, for " +
                PercentOf(again_ns / step_ns) + " of a step",
       .seen = "Activation checkpointing: inside of backward " + what +
               " run their forward again, " + TimeOf(again_ns) + " a step.",
       .why = "What a forward computed is thrown away and computed again when backward needs it: "
              "memory is saved, time is spent.",
       .action = "If memory allows, switch checkpointing off (gradient_checkpointing=False), or "
                 "checkpoint every second block only; where it does not, a smaller batch without "
                 "checkpointing may be as fast.",
       .gain_ns = (run.gpu.empty() ? again_ns : WithinCpuSlack(run, again_ns)) * kRecomputeGain,
       .uncertainty_ns = again_ns * kRecomputeUncertainty,
       .evidence = {{.kind = "module",
                     .name = most->path,
                     .count = most->recomputed_calls,
                     .per_step_ns = again_ns}},
       .patch = {.place = "",
                 .diff = "-model.gradient_checkpointing_enable()\n"
                         "-x = checkpoint(block, x, use_reentrant=False)\n"
                         "+x = block(x)\n"}});
}

// A cell is one step of a recurrent network. Its loop in Python calls, and autograd remembers, each
// operator of each step; nn.LSTM multiplies the inputs of all steps at once and loops in C++.
void CellsInALoop(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  if (step_ns <= 0) return;
  double cells_ns = 0, calls = 0;
  const ModuleRow* most = nullptr;
  for (const ModuleRow& row : run.modules.rows) {
    if (row.class_name != "LSTMCell" && row.class_name != "GRUCell" &&
        row.class_name != "RNNCell") {
      continue;
    }
    const double callers =
        row.parent < 0 ? 1 : run.modules.rows[static_cast<size_t>(row.parent)].calls_per_step;
    if (row.calls_per_step < kCellCalls * std::max(1.0, callers)) continue;
    const double ns = row.total_per_step_ns + row.backward_per_step_ns;
    if (most == nullptr || ns > most->total_per_step_ns + most->backward_per_step_ns) most = &row;
    cells_ns += ns;
    calls += row.calls_per_step;
  }
  if (most == nullptr || cells_ns < kCellShare * step_ns) return;
  const std::string layer = most->class_name.substr(0, most->class_name.size() - 4);  // LSTM
  const double part = run.gpu.empty() ? kCellGain : kCellGpuGain;
  findings->push_back(
      {.title = "`" + most->path + "` is called " + Rounded(most->calls_per_step) +
                " times a step, one time step each",
       .seen = "Cells take " + PercentOf(cells_ns / step_ns) + " of a step in " + Rounded(calls) +
               " calls, forward and backward.",
       .why = "Every call is several small operators, and as many again in backward.",
       .action = "Where the inputs of all time steps are known, use nn." + layer +
                 ", which takes the whole sequence in one call; keep the cell for steps that feed "
                 "on their own output.",
       .gain_ns = cells_ns * part,
       .uncertainty_ns = cells_ns * kCellUncertainty,
       .evidence =
           {{.kind = "module", .name = most->path, .count = most->calls, .per_step_ns = cells_ns}},
       .patch = {.place = "",
                 .diff = "-for x in inputs.unbind(1): h, c = self.cell(x, (h, c))\n"
                         "+out, (h, c) = self." +
                         std::string(layer == "LSTM" ? "lstm" : "rnn") + "(inputs)  # nn." + layer +
                         "(..., batch_first=True)\n"}});
}

}  // namespace batchlight::advice
