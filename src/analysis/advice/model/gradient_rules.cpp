// Gradients that nobody uses (analysis/gradients/unused_gradients.h), or that are computed again
// (analysis/gradients/repeated_backward.h).
#include <algorithm>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/gradients/unheld_parameters.h"
#include "analysis/lines/code_samples.h"
#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

constexpr size_t kPathsInSentence = 3;

std::string NamesOf(const std::vector<std::string_view>& paths) {
  std::string names;
  for (size_t i = 0; i < paths.size() && i < kPathsInSentence; ++i) {
    names += (i == 0 ? "`" : ", `") + std::string(paths[i]) + '`';
  }
  return names + (paths.size() > kPathsInSentence ? " and others" : "");
}

// The part of a model that no gradient leaves, and the parts beside it that are no optimizer's
// either: backward goes through what is left of them.
std::vector<std::string_view> PartsToFreeze(const RunMeasures& run) {
  const UnusedGradients& unused = run.unused_gradients;
  const std::string_view root = run.store->Text(unused.root);
  std::vector<std::string_view> parts = {root};
  if (!unused.apart || !unused.nested || unused.named_from_model) return parts;
  const UnheldParameters unheld(*run.store, run.steps.Main()->process);
  const std::vector<std::string_view>& paths = unheld.paths();
  if (std::find(paths.begin(), paths.end(), root) == paths.end()) return parts;
  for (const std::string_view path : paths) {
    if (path != root && path.find('*') == std::string_view::npos) parts.push_back(path);
  }
  return parts;
}

std::string FreezeAll(const std::vector<std::string_view>& parts) {
  std::string diff;
  for (const std::string_view part : parts) {
    diff += "+model." + std::string(part) + ".requires_grad_(False)\n";
  }
  return diff;
}

}  // namespace

void UnusedGradientsOfBackward(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  const UnusedGradients& unused = run.unused_gradients;
  if (unused.cost_ns == 0 || main == nullptr || step_ns <= 0) return;
  const double unused_ns = double(unused.cost_ns) / double(main->steady.size());
  if (unused_ns < kUnusedGradients * step_ns) return;
  const double cpu_ns = double(unused.cpu_ns) / double(main->steady.size());
  const std::vector<std::string_view> parts = PartsToFreeze(run);
  const std::string root = NamesOf(parts);
  const std::string share = PercentOf(unused_ns / step_ns) + " of a step";
  const bool never = !unused.updated_elsewhere;
  const double gain_ns =
      (run.gpu.empty() ? unused_ns : WithoutWorkNs(run, unused_ns, cpu_ns)) * kUnusedGradientsGain;
  findings->push_back(
      {.title = unused.apart
                    ? root +
                          (parts.size() == 1
                               ? " is no optimizer's, and backward runs through it for "
                               : " are no optimizer's, and backward runs through them for ") +
                          share
                : unused.in_part ? "Backward runs through all of " + root + " to update " +
                                       unused.stepped + ", " + share + " for nothing"
                                 : "Backward runs on into " + root +
                                       ", which that step does not update, for " + share,
       .seen = unused.apart
                   ? "Autograd follows " + root + ", whose backward takes " + TimeOf(unused_ns) +
                         " a step. The optimizer steps " + unused.stepped +
                         ", to which no gradient leads from there."
                   : "Behind the last module that the optimizer steps (" + unused.stepped +
                         ") backward goes on for " + TimeOf(unused_ns) +
                         " a step, and no step of an optimizer uses what it computes there.",
       .why = "Autograd follows the graph to its beginning, as long as parameters there ask for "
              "gradients.",
       .action =
           unused.apart ? "Run it under torch.no_grad(), with requires_grad_(False) for all of "
                          "its parameters; where samples come back, compute its answers once."
           : never      ? "Call requires_grad_(False) on the parameters that stay as they are; run "
                          "what comes before the first trained layer under torch.no_grad()."
                        : "Detach what goes from " + root +
                         " into the other model's loss: make it under torch.no_grad(), or "
                         "pass fake.detach().",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kUnusedGradientsUncertainty,
       .evidence = {{.kind = "module",
                     .name = std::string(run.store->Text(unused.root)),
                     .per_step_ns = unused_ns}},
       .patch = {.place = RecordedPlace(run, "site.optimizer"),
                 .diff = unused.nested && !unused.named_from_model ? FreezeAll(parts)
                         : unused.apart
                             ? "-reference = reference_model(ids)\n"
                               "+with torch.no_grad(): reference = reference_model(ids)\n"
                         : never ? "+for p in model.parameters(): p.requires_grad_(False)\n"
                                   "+for p in model.head.parameters(): p.requires_grad_(True)\n"
                                 : "-fake = generator(z)\n"
                                   "+with torch.no_grad(): fake = generator(z)\n"}});
}

void UnheldGradients(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  const UnusedGradients& unused = run.unused_gradients;
  if (unused.unheld_ns == 0 || main == nullptr || step_ns <= 0) return;
  const UnheldParameters unheld(*run.store, main->process);
  const auto steps = double(main->steady.size());
  const double unheld_ns = double(unused.unheld_ns) / steps;
  const double cpu_ns = double(unused.unheld_cpu_ns) / steps;
  const double gain_ns = run.gpu.empty() ? unheld_ns : WithoutWorkNs(run, unheld_ns, cpu_ns);
  if (std::max(unheld_ns, gain_ns) < kUnheldGradients * step_ns) return;
  const std::string paths = NamesOf(unheld.paths());
  findings->push_back(
      {.title = "Backward computes gradients of " + NumbersText(unheld.numbers()) +
                " numbers that no optimizer has",
       .seen = "The parameters of " + paths + " ask for gradients and get them, " +
               TimeOf(unheld_ns) + (run.gpu.empty() ? "" : " of the GPU") +
               " a step, and no optimizer has them: they stay as they are.",
       .why =
           "Autograd computes the gradient of every parameter on its way that asks for one: half "
           "of the backward of each linear layer and convolution, and memory for all of them.",
       .action = "Call requires_grad_(False) on what stays as it is, before adapters or a head are "
                 "added; or give these parameters to the optimizer, if they were forgotten. Not if "
                 "the program reads these gradients, or updates the weights through .data.",
       .gain_ns = gain_ns * kUnusedGradientsGain,
       .uncertainty_ns = gain_ns * kUnheldUncertainty,
       .evidence = {{.kind = "phase", .name = "backward", .per_step_ns = unheld_ns}},
       .patch = {.place = RecordedPlace(run, "site.optimizer"),
                 .diff = "+base_model.requires_grad_(False)  # before the adapters are added\n"}});
}

namespace {

// "`train` (train.py:46)": what calls backward, by samples of Python; "": not known.
std::string CallerOfBackward(const RunMeasures& run, const ProcessSteps& main) {
  const CodeSamples samples(*run.store);
  if (samples.empty() || OwnerOfLoop(run) != LoopOwner::kProgram) return "";
  std::vector<TimeSpan> spans;
  StepLookup steps(&main);
  for (const PhaseMark& mark : run.inputs->marks.Outermost(main.thread, PhaseKind::kBackward)) {
    if (steps.IsSteadyAt(mark.start_ns)) AddSpan(spans, mark.start_ns, mark.end_ns);
  }
  return FunctionTexts(*run.store, samples.During(main.thread, spans), 1);
}

struct AgainText {
  std::string title, why, action, diff;
};

// Of a state that keeps the graph of what came before it.
AgainText TextOfState() {
  return {.title = "goes through earlier forwards too",
          .why =
              "A state that is carried on (of a recurrent network, of a rollout) holds the graph "
              "that made it: each backward() goes through its own forward and through all those "
              "before it, more each time.",
          .action =
              "Detach the state before it is carried on (state = state.detach(); of an LSTM "
              "both tensors), and drop retain_graph=True: each backward() then ends where its "
              "own forward began. Where gradients are to reach further back, add the losses "
              "and call backward() once.",
          .diff =
              "-loss.backward(retain_graph=True)\n"
              "+loss.backward()\n"
              "+state = state.detach()\n"};
}

AgainText TextOfLosses(const RepeatedBackward& again) {
  return {.title = "runs " + MeanCountText(again.times()) + " times through the same graph",
          .why =
              "Each backward() goes through all that its loss shares with the others, the whole "
              "trunk again. The gradient of a sum is the sum of the gradients.",
          .action =
              "Add the losses, with their weights, and call backward() once. Where each "
              "loss's own gradient is asked for (PCGrad, GradNorm, MGDA), take it where they "
              "part: torch.autograd.grad(loss, features, retain_graph=True), and "
              "features.backward() of the sum.",
          .diff =
              "-for loss, weight in zip(losses, weights): (weight * "
              "loss).backward(retain_graph=True)\n"
              "+sum(weight * loss for loss, weight in zip(losses, weights)).backward()\n"};
}

}  // namespace

void RepeatedBackwards(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  const RepeatedBackward& again = run.repeated_backward;
  if (again.repeats == 0 || main == nullptr || step_ns <= 0) return;
  const auto steps = double(main->steady.size());
  const double cpu_ns = double(again.cpu_ns) / steps;
  const double again_ns = run.gpu.empty() ? cpu_ns : double(again.gpu_ns) / steps;
  const double gain_ns =
      (run.gpu.empty() ? again_ns : WithoutWorkNs(run, again_ns, cpu_ns)) * kRepeatedBackwardGain;
  if (std::max(again_ns, gain_ns) < kRepeatedBackward * step_ns) return;
  const AgainText text = again.grows ? TextOfState() : TextOfLosses(again);
  const std::string caller = CallerOfBackward(run, *main);
  findings->push_back(
      {.title = (caller.empty() ? "Backward " : caller + ": backward ") + text.title + ", " +
                PercentOf(again_ns / step_ns) + " of a step again",
       .seen = MeanCountText(double(again.functions) / steps) + " backward functions a step run " +
               MeanCountText(again.times()) +
               " times on average for the same forward (retain_graph=True); all but the "
               "first of these take " +
               TimeOf(again_ns) + (run.gpu.empty() ? "" : " of the GPU") + " a step.",
       .why = text.why,
       .action = text.action,
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kRepeatedBackwardUncertainty,
       .evidence = {{.kind = "phase", .name = "backward", .per_step_ns = again_ns}},
       .patch = {.diff = text.diff}});
}

}  // namespace batchlight::advice
