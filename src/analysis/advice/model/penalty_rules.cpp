// Gradient penalties, which a step computes for a critic (analysis/gradients/double_backward.h).
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/gradients/double_backward.h"
#include "analysis/lines/code_samples.h"

namespace batchlight::advice {
namespace {

// By the name alone: the gradients of a differential equation or of an energy are the loss itself.
bool NamesPenalty(std::string_view function) {
  std::string name;
  for (const char letter : function) {
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  for (const std::string_view word : {"penalty", "penalize", "penalise", "lipschitz"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  size_t start = 0;
  for (size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && std::isalnum(static_cast<unsigned char>(name[i])) != 0) continue;
    const std::string_view word = std::string_view(name).substr(start, i - start);
    if (word == "gp" || word == "r1") return true;
    start = i + 1;
  }
  return false;
}

}  // namespace

void GradientPenalty(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  const DoubleBackward& penalty = run.double_backward;
  if (main == nullptr || main->steady.empty() || step_ns <= 0 || penalty.calls.empty()) return;
  const auto steps = double(main->steady.size());
  const double cpu_ns = double(penalty.cpu_ns) / steps;
  const double penalty_ns = run.gpu.empty() ? cpu_ns : double(penalty.gpu_ns) / steps;
  const double gain_ns = (run.gpu.empty() ? penalty_ns : WithoutWorkNs(run, penalty_ns, cpu_ns)) *
                         (1 - 1 / double(kLazyPenalty));
  if (std::max(penalty_ns, gain_ns) < kPenaltyShare * step_ns) return;
  const CodeSamples samples(*run.store);
  const SampledTime time = samples.During(main->thread, penalty.calls);
  if (time.functions.empty()) return;
  const SampledFunction& most = time.functions.front();
  if (double(most.ns) < kPenaltyFunction * double(time.all_ns) || !NamesPenalty(most.function)) {
    return;
  }
  const std::string often = std::to_string(int(kLazyPenalty));
  const std::string call = most.function.substr(most.function.rfind('.') + 1) + "(...)";
  findings->push_back(
      {.title = FunctionText(*run.store, most) + ": a gradient penalty takes " +
                PercentOf(penalty_ns / step_ns) + " of a step",
       .seen = "torch.autograd.grad makes gradients that are part of the loss (" +
               MeanCountText(double(penalty.calls.size()) / steps) +
               " a step); making them and going back through them takes " + TimeOf(penalty_ns) +
               (run.gpu.empty() ? "" : " of the GPU") + " a step.",
       .why = "Backward goes through the network and then through that backward once more; the "
              "penalty changes little "
              "from one step to the next.",
       .action = "Compute it in every " + often + "th step, weighted " + often +
                 " times as much (lazy regularization, as StyleGAN2 does it), or of a part of the "
                 "batch; look whether "
                 "training goes as well.",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kPenaltyUncertainty,
       .evidence = {{.kind = "phase", .name = "torch.autograd.grad", .per_step_ns = penalty_ns}},
       .patch = {.diff = "-loss = loss + weight * " + call + "\n+if step % " + often +
                         " == 0:\n+    loss = loss + " + often + " * weight * " + call + "\n"}});
}

}  // namespace batchlight::advice
