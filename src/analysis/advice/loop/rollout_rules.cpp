// Rollouts of reinforcement learning: how the model is asked for what it then learns from.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/loop/stage_calls.h"
#include "analysis/advice/module_callers.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"
#include "analysis/lines/source_place.h"
#include "analysis/numbers/time_span.h"
#include "analysis/stages/stages.h"

namespace batchlight::advice {
namespace {

// The rollouts of a loop that they take a good part of.
struct Rollouts {
  double total_ns = 0;  // 0: no such
  double training_ns = 0;
  StageCalls calls;

  // The rest is the environment's and the program's own.
  bool AreOfTheModel() const { return calls.model_ns() >= kRolloutInModel * total_ns; }
  std::string Lengths() const {
    return "Rollouts took " + TimeOf(total_ns) + " together, training " + TimeOf(training_ns);
  }
};

Rollouts RolloutsOf(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  const ProcessStages* stages = run.stages.Main();
  if (main == nullptr || stages == nullptr || main->thread.IsNone()) return {};
  const StageTotal* rollouts = stages->Of(StageKind::kRollout);
  const StageTotal* training = stages->Of(StageKind::kTraining);
  if (rollouts == nullptr || training == nullptr) return {};
  const auto rollout_ns = double(rollouts->total_ns), training_ns = double(training->total_ns);
  if (rollout_ns < kRepeatedShare * (rollout_ns + training_ns)) return {};
  return {.total_ns = rollout_ns,
          .training_ns = training_ns,
          .calls = CallsInStage(run, StageKind::kRollout)};
}

// Whether the training process has started others, as those that environments run in.
bool HasChildren(const RunMeasures& run) {
  const ProcessesTable& processes = run.store->processes;
  const uint32_t training = processes.pid[run.steps.Main()->process.row()];
  return std::find(processes.parent_pid.begin(), processes.parent_pid.end(), training) !=
         processes.parent_pid.end();
}

std::vector<TimeSpan> SpansOfRollouts(const RunMeasures& run) {
  return SpansOf(run.stages.Main()->spans, StageKind::kRollout);
}

// Of the rollouts: copy.deepcopy, by samples. ns
double DeepCopiesNs(const RunMeasures& run, double rollouts_ns) {
  const ProcessSteps* main = run.steps.Main();
  const SampledTime sampled = CodeSamples(*run.store).During(main->thread, SpansOfRollouts(run));
  int64_t copies_ns = 0;
  for (const SampledFunction& function : sampled.innermost) {
    const std::string_view file = run.store->Text(function.file);
    if (ShortFile(file) == "copy.py" && OwnerOfSource(*run.store, file) == SourceOwner::kPython) {
      copies_ns += function.ns;
    }
  }
  return rollouts_ns * double(copies_ns) / double(std::max<int64_t>(1, sampled.all_ns));
}

}  // namespace

void RolloutWork(const RunMeasures& run, Findings* findings) {
  const Rollouts rollouts = RolloutsOf(run);
  if (rollouts.total_ns <= 0 || rollouts.AreOfTheModel()) return;
  const double work_ns = rollouts.total_ns - rollouts.calls.model_ns();
  // What simulates can be made cheaper; copies of the state are mostly for nobody.
  const double copies_ns = std::min(work_ns, DeepCopiesNs(run, rollouts.total_ns));
  const double gain_ns = (work_ns - copies_ns) * kRolloutWorkGain + copies_ns * kRolloutCopiesGain;
  findings->push_back(
      {.title =
           PercentOf(work_ns / rollouts.total_ns) + " of the rollouts lies outside of the model",
       .seen = rollouts.Lengths() + "; calls of the model and of operators are " +
               TimeOf(rollouts.calls.model_ns()) + " of it." +
               CodeOfStage(run, StageKind::kRollout).seen,
       .why = "The model waits for the environment and for what is done with its answers: "
              "simulating, drawing, recording, copying observations.",
       .action =
           std::string(copies_ns >= kDeepCopy * rollouts.total_ns
                           ? "Copy a state (copy.deepcopy) only where somebody reads the copy, as "
                             "at the end of an episode. "
                           : "") +
           std::string("Make that code cheaper or rarer (no drawing or video of every episode)") +
           (HasChildren(run)
                ? ", or let each of the program's processes do more before it answers: "
                  "several steps or environments for a message."
                : ", or run environments in processes of their own "
                  "(gymnasium.vector.AsyncVectorEnv)."),
       .evidence = {{.kind = "stage",
                     .name = "rollout",
                     .count = rollouts.calls.stretches,
                     .longest = LongestOf(SpansOfRollouts(run))}},
       .run_gain_ns = gain_ns,
       .run_uncertainty_ns = work_ns * kRolloutWorkUncertainty,
       .patch = {}});
}

void RolloutOfOne(const RunMeasures& run, Findings* findings) {
  const Rollouts rollouts = RolloutsOf(run);
  const StageCalls& found = rollouts.calls;
  if (rollouts.total_ns <= 0 || !rollouts.AreOfTheModel() || !found.AreOfOne()) return;
  findings->push_back(
      {.title = "Rollouts ask the model for one sample at a time",
       .seen = rollouts.Lengths() + "; in them the model was called " +
               std::to_string(found.model_calls) + " times, " +
               (found.products > 0 ? "most often for a batch of one."
                                   : "and a number was read (.item()) for each call."),
       .why = "A call of a small model costs nearly the same for one sample as for many: Python, "
              "operators and launches.",
       .action = "Step several environments together and ask once for all of them "
                 "(gymnasium.vector, torch.stack of the observations); read the answers back with "
                 "one .tolist() or .cpu().",
       .evidence = {{.kind = "stage",
                     .name = "rollout",
                     .count = found.stretches,
                     .longest = LongestOf(SpansOfRollouts(run))}},
       .run_gain_ns =
           std::min(rollouts.total_ns * kRolloutGain, found.model_ns() * kRolloutCallsGain),
       .run_uncertainty_ns = rollouts.total_ns * kRolloutUncertainty,
       .patch = {.place = CallerOfModels(run, SpansOfRollouts(run)),
                 .diff = "-actions = [policy(obs[None]) for obs in observations]\n"
                         "+actions = policy(torch.stack(observations))\n"}});
}

}  // namespace batchlight::advice
