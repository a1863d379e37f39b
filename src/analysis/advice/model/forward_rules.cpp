// Forwards that could be fewer or larger: of models that learn nothing, of small batches whose
// gradients are summed up, of cells in a loop, and those that backward runs again.
#include <algorithm>
#include <utility>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/module_callers.h"
#include "analysis/advice/processor_wait.h"
#include "analysis/advice/rules.h"
#include "analysis/forward/unlearned_work.h"
#include "analysis/forward/unused_forwards.h"
#include "analysis/owners/autograd_numbers.h"
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

// Whether an operator that began before the moment is around this one and has a number: a function
// with a backward of its own, as of a compiled graph, which calls what it is made of without
// gradients.
bool IsInsideOfAFunction(const OperatorCallsTable& operators, uint32_t row, int64_t before_ns) {
  for (OperatorCallId above = operators.parent[row]; !above.IsNone();
       above = operators.parent[above.row()]) {
    if (operators.start_ns[above.row()] < before_ns && HasOwnNumber(operators, above.row())) {
      return true;
    }
  }
  return false;
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
      if ((HasOwnNumber(operators, row) && !IsCast(*run.store, row)) ||
          IsInsideOfAFunction(operators, row, calls.start_ns[call])) {
        return false;
      }
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

// Random numbers that change a sample: crops, flips, noise. Not those that choose which sample it
// is (randint, randperm).
bool ChangesSamples(std::string_view operator_name) {
  constexpr std::string_view kRandom[] = {"aten::rand",     "aten::rand_like", "aten::randn",
                                          "aten::uniform_", "aten::normal_",   "aten::randn_like",
                                          "aten::normal",   "aten::bernoulli", "aten::bernoulli_"};
  return std::find(std::begin(kRandom), std::end(kRandom), operator_name) != std::end(kRandom);
}

// Whether steps draw random numbers before they call the module: it is given other samples in
// every epoch.
bool SamplesChangeBefore(const RunMeasures& run, const ProcessSteps& main, std::string_view path) {
  const ModuleCallsTable& calls = run.store->module_calls;
  const OperatorCallsTable& operators = run.store->operator_calls;
  const IntervalIndex modules(calls.thread, calls.start_ns, calls.end_ns);
  const ThreadSpans::Rows rows = ThreadSpans(operators.thread).Of(main.thread);
  size_t called = 0, changed = 0;
  uint32_t row = rows.begin;
  size_t call = 0;
  for (const uint32_t step : main.steady) {
    const auto [from_ns, to_ns] = std::pair(main.steps[step].start_ns, main.steps[step].end_ns);
    const auto is_other = [&] {
      return calls.thread[call] != main.thread || calls.start_ns[call] < from_ns ||
             run.store->Text(calls.path[call]) != path;
    };
    while (call < calls.size() && is_other()) ++call;
    if (call == calls.size()) break;
    if (calls.start_ns[call] >= to_ns) continue;
    ++called;
    bool draws = false;
    while (row < rows.end && operators.start_ns[row] < from_ns) ++row;
    for (; row < rows.end && operators.start_ns[row] < calls.start_ns[call] && !draws; ++row) {
      draws = ChangesSamples(run.store->Text(operators.name[row])) &&
              modules.Innermost(main.thread, operators.start_ns[row]) == kNoRow;
    }
    changed += draws;
  }
  return called > 0 && double(changed) >= kCallOfEveryStep * double(called);
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
  const bool change = SamplesChangeBefore(run, *main, frozen->path);
  const std::string place = CallerOfModule(run, frozen->path);
  findings->push_back(
      {.title = name + " learns nothing and takes " + PercentOf(frozen_ns / step_ns) + " of a step",
       .seen = "It is called " + Rounded(frozen->calls_per_step) +
               " times a step without gradients, for " + TimeOf(frozen_ns) +
               ", and no backward comes back to it.",
       .why = change ? "A model whose weights stay answers the same for the same sample, but steps "
                       "draw random numbers before they call it: its samples change each time."
                     : "A model whose weights stay answers the same for the same sample, epoch "
                       "after epoch.",
       .action = change
                     ? "Run it under torch.inference_mode(), in lower precision, or compiled; its "
                       "answers can only be kept for samples that stay."
                     : "Compute its answers once, before the loop or in the first epoch, and "
                       "keep them beside the samples. Where samples change each time: run it "
                       "under torch.inference_mode(), in lower precision, or compiled.",
       .gain_ns = change ? 0 : frozen_ns * kFrozenGain,
       .uncertainty_ns = change ? 0 : frozen_ns * kFrozenUncertainty,
       .evidence = {{.kind = "module", .name = frozen->path, .per_step_ns = frozen_ns}},
       .patch =
           change ? Patch{.place = place, .diff = ""}
                  : Patch{.place = place,
                          .diff = "-for x, y in loader:\n"
                                  "-    with torch.no_grad(): target = teacher(x)\n"
                                  "+targets = torch.cat([teacher(x) for x, y in loader_in_order])\n"
                                  "+for x, y, target in loader_with(targets):\n"}});
}

namespace {

// Whether a second model learns, which may be given what the first returned. A loss is none.
bool AnotherLearns(const RunMeasures& run, std::string_view path) {
  return std::any_of(run.modules.rows.begin(), run.modules.rows.end(), [&](const ModuleRow& row) {
    return row.depth == 0 && row.backward_ns > 0 && row.path != path &&
           !row.class_name.ends_with("Loss");
  });
}

// "1 call", "2.5 calls".
std::string CallsText(double calls) {
  const std::string count = MeanCountText(calls);
  return count + (count == "1" ? " call" : " calls");
}

// What the calls cost a step: with a GPU, what they had it do.
double CostOfCallsNs(const RunMeasures& run, const UnusedForward& unused, size_t steps) {
  const double ns = double(unused.ns) / double(steps);
  if (run.gpu.empty()) return ns;
  const double part = double(unused.calls) / double(unused.calls + unused.used_calls);
  double gpu_ns = 0;
  for (const ModuleRow& row : run.modules.rows) {
    if (row.path == run.store->Text(unused.path)) gpu_ns += row.gpu_per_step_ns;
  }
  return WithinCpuSlack(run, gpu_ns * part);
}

}  // namespace

void ForwardWithoutBackward(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || step_ns <= 0 || !run.modules.has_backward) return;
  const UnusedForward unused = FindUnusedForward(*run.store, *main, run.inputs->marks, run.links);
  const double calls = double(unused.calls) / double(std::max<size_t>(1, main->steady.size()));
  if (calls < kCallOfEveryStep) return;
  const double cost_ns = CostOfCallsNs(run, unused, main->steady.size());
  if (cost_ns < kUnusedForward * step_ns) return;
  const std::string path(run.store->Text(unused.path));
  const bool never_learns = unused.used_calls == 0;
  const bool may_be_used = !never_learns && AnotherLearns(run, path);
  const double gain_ns = cost_ns * (may_be_used    ? kGraphGain
                                    : never_learns ? kFrozenGain
                                                   : kUnusedForwardGain);
  if (!CanBeSeen(run, gain_ns)) return;
  const std::string name = '`' + path + '`';
  findings->push_back(
      {.title = "No backward comes back to " + CallsText(calls) + " of " + name + " a step, " +
                PercentOf(cost_ns / step_ns) + " of it",
       .seen = "Autograd follows " + name + " in " + CallsText(calls) + " a step, for " +
               TimeOf(cost_ns) + ", and no backward uses what it keeps for it" +
               (never_learns ? "." : "; to its other calls it comes back."),
       .why = "The result is thrown away, looked at or detached: the graph is built, and what it "
              "holds is kept, for nothing.",
       .action = never_learns
                     ? "Where nothing needs the result, leave the call out. Where it is a target, "
                       "call it under torch.no_grad(), and compute it once for each sample if "
                       "samples come back."
                 : may_be_used
                     ? "Where nothing reads the result, leave the call out; for a metric, "
                       "make it every N steps. Where it is passed on detached, call it "
                       "under torch.no_grad()."
                     : "Where the batch is the same, use the outputs of the forward that "
                       "is trained (outputs.detach()); where nothing needs the result, "
                       "leave the call out; else call it under torch.no_grad().",
       .gain_ns = gain_ns,
       .uncertainty_ns = cost_ns * (may_be_used ? kGraphGain : kUnusedForwardUncertainty),
       .evidence =
           {{.kind = "module", .name = path, .count = unused.calls, .per_step_ns = cost_ns}},
       .patch = {.place = never_learns ? CallerOfModule(run, path) : "",
                 .diff = never_learns || may_be_used
                             ? "-y = model(x).detach()\n+with torch.no_grad(): y = model(x)\n"
                             : "-loss = criterion(model(x), y)\n-predicted = model(x).argmax(1)\n"
                               "+outputs = model(x)\n+loss = criterion(outputs, y)\n"
                               "+predicted = outputs.detach().argmax(1)\n"}});
}

void WorkThatLearnsNothing(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || step_ns <= 0) return;
  const UnlearnedWork& work = run.unlearned_work;
  const auto steps = double(std::max<size_t>(1, main->steady.size()));
  const double work_ns = double(work.ns) / steps;
  if (double(work.stretches) < kCallOfEveryStep * steps) return;
  if (work_ns < kUnlearnedShare * step_ns) return;
  std::string names;
  constexpr size_t kMostNames = 3;
  for (size_t i = 0; i < std::min(kMostNames, work.operators.size()); ++i) {
    names += (i == 0 ? "`" : ", `") + std::string(run.store->Text(work.operators[i])) + '`';
  }
  const std::string where =
      work.module.IsNone() ? "Forward" : '`' + std::string(run.store->Text(work.module)) + '`';
  const double gain_ns = work_ns * CpuExposure(run) * kUnlearnedGain;
  findings->push_back(
      {.title = where + " factorizes matrices that nothing learns into, for " +
                PercentOf(work_ns / step_ns) + " of a step",
       .seen = names + " and what is computed for them take " + TimeOf(work_ns) +
               " a step in forward, and autograd does not follow them: no parameter that learns "
               "goes into them.",
       .why = "What depends on neither parameters nor the batch is the same in every step.",
       .action = "Compute it once, when the model is made or when what it depends on changes, and "
                 "keep it (self.register_buffer).",
       .gain_ns = gain_ns,
       .uncertainty_ns = work_ns * kUnlearnedUncertainty,
       .evidence = {{.kind = "operator",
                     .name = std::string(run.store->Text(work.operators.front())),
                     .count = work.stretches,
                     .per_step_ns = work_ns}},
       .patch = {.place = "",
                 .diff =
                     "-def forward(self, x):\n-    w = torch.linalg.inv(self.k)\n"
                     "+    self.register_buffer(\"w\", torch.linalg.inv(k))  # in __init__\n"}});
}

namespace {

// Whether the whole step as one batch fits the GPU with ease, by what was ever reserved.
bool FitsAsOneBatch(const RunMeasures& run, uint32_t micro_batches) {
  const double peak = NumberProperty(run, "torch.peak_reserved_bytes");
  return peak > 0 &&
         peak * micro_batches <= kMemoryUse * NumberProperty(run, "torch.gpu_memory_bytes");
}

}  // namespace

void SmallMicroBatches(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->micro_batches < 2 || step_ns <= 0) return;
  const bool fits = !run.gpu.empty() && FitsAsOneBatch(run, main->micro_batches);
  if (main->micro_batches < kManyMicroBatches && !fits) return;
  double operators = 0;
  for (const OperatorRow& row : run.operators.by_name) operators += row.calls_per_step;
  if (operators <= 0) return;
  const double waited = ProcessorWait(run);
  const double mean_ns = step_ns * (1 - waited) / operators;
  if (run.gpu.empty() ? mean_ns >= kSmallOperatorNs
                      : LaunchIdleNs(run) < kMicroBatchIdle * step_ns) {
    return;
  }
  const double phases_ns =
      step_ns * (PhaseShareOf(run, PhaseKind::kForward) + PhaseShareOf(run, PhaseKind::kLoss) +
                 PhaseShareOf(run, PhaseKind::kBackward));
  const double work_ns = std::max(0.0, phases_ns - BackwardWaitNs(run));
  const double gain_ns = work_ns * kMicroBatchGain;
  if (!CanBeSeen(run, gain_ns)) return;
  const std::string count = std::to_string(main->micro_batches);
  const uint32_t larger = fits ? main->micro_batches : 4;
  findings->push_back(
      {.title = "Gradients are summed up over " + count + " small batches",
       .seen = "A step has " + count + " forwards and backwards, " + Rounded(operators) +
               " operators of " + TimeOf(mean_ns) + " in the mean" +
               (waited > 0 ? ", without what they wait for a processor." : "."),
       .why = "A small operator costs nearly as much for one sample as for several: the rest is "
              "its call.",
       .action = fits
                     ? "Pass all of a step's samples as one batch, without accumulation: the GPU's "
                       "memory has room for it, and the optimizer sees the same gradients."
                     : "Make the batch of a forward two to " + count +
                           " times as large, as memory allows, and accumulate so much less "
                           "often; the optimizer sees the same gradients.",
       .gain_ns = gain_ns,
       .uncertainty_ns = work_ns * kMicroBatchUncertainty,
       .evidence = {{.kind = "step", .name = "micro-batches", .count = main->micro_batches}},
       .patch = {.place = "",
                 .diff = "-DataLoader(data, batch_size=n), accumulation = " + count +
                         "\n+DataLoader(data, batch_size=" + std::to_string(larger) +
                         " * n), accumulation = " +
                         std::to_string(std::max<uint32_t>(1, main->micro_batches / larger)) +
                         "\n"}});
}

namespace {

struct Recomputed {
  double gpu_ns = 0;  // of a step: on the GPU, or 0 without one
  double cpu_ns = 0;
  const ModuleRow* most = nullptr;
  uint32_t modules = 0;  // that no other recomputed one calls
};

Recomputed FindRecomputed(const RunMeasures& run) {
  Recomputed found;
  if (!run.modules.has_recompute) return found;
  for (const ModuleRow& row : run.modules.rows) {
    if (row.recomputed_calls == 0) continue;
    const bool inside = row.parent >= 0 && run.modules.rows[size_t(row.parent)].recomputed_calls;
    found.cpu_ns += row.recompute_self_per_step_ns;
    if (inside) continue;
    found.gpu_ns += row.gpu_recompute_per_step_ns;
    ++found.modules;
    if (found.most == nullptr || row.recompute_ns > found.most->recompute_ns) found.most = &row;
  }
  return found;
}

}  // namespace

double RecomputedNs(const RunMeasures& run) {
  const Recomputed again = FindRecomputed(run);
  const double ns = run.gpu.empty() ? again.cpu_ns : again.gpu_ns;
  return again.most == nullptr || ns < kRecomputeShare * MeanStepNs(run) ? 0 : ns;
}

// Activation checkpointing trades time for memory. Whether the memory would be there without it is
// not recorded: the finding says what the trade costs.
void RecomputedForward(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  const double again_ns = RecomputedNs(run);
  if (step_ns <= 0 || again_ns <= 0) return;
  const Recomputed again = FindRecomputed(run);
  const auto [most, checkpointed] = std::pair(again.most, again.modules);
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
       .gain_ns =
           (run.gpu.empty() ? again.cpu_ns : WithoutWorkNs(run, again.gpu_ns, again.cpu_ns)) *
           kRecomputeGain,
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

}  // namespace batchlight::advice
