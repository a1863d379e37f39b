#include <string>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"
#include "analysis/lines/source_place.h"
#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/stages/stages.h"
#include "analysis/steps/loop_span.h"

namespace batchlight::advice {
namespace {

struct Saves {
  uint64_t count = 0;
  int64_t total_ns = 0;
  std::vector<TimeSpan> spans;
  bool by_torch = true;  // torch.save alone, called by the program's own loop
};

// On the thread of the loop, from its first step on. What is saved behind the last step keeps none
// from training, and has to be waited for.
Saves FindSaves(const RunMeasures& run, const ProcessSteps& main) {
  Saves saves;
  const Store& store = *run.store;
  const TimeSpan loop = SpanOfLoop(main.steps).whole;
  for (const PhaseMark& mark : run.inputs->marks.Outermost(main.thread, PhaseKind::kCheckpoint)) {
    if (mark.end_ns < loop.start_ns || mark.start_ns >= loop.end_ns) continue;
    if (store.Text(mark.name) == "torch.load") continue;
    ++saves.count;
    saves.by_torch = saves.by_torch && store.Text(mark.name) == "torch.save";
    saves.total_ns += mark.end_ns - mark.start_ns;
    AddSpan(saves.spans, mark.start_ns, mark.end_ns);
  }
  return saves;
}

Patch PatchFor(const RunMeasures& run, size_t steps_each) {
  if (OwnerOfLoop(run) != LoopOwner::kProgram) return {};
  if (double(steps_each) < kStepsOfACheckpoint) {
    return {
        .place = "",
        .diff = "-torch.save(state, path)\n+if step % 100 == 0:\n+    torch.save(state, path)\n"};
  }
  return {.place = "",
          .diff = run.gpu.empty()
                      ? "-torch.save(state, path)\n+copied = copy.deepcopy(state)\n"
                        "+threading.Thread(target=torch.save, args=(copied, path)).start()\n"
                      : "-torch.save(state, path)\n"
                        "+torch.distributed.checkpoint.async_save(state, checkpoint_id=path)\n"};
}

// "46 checkpoints took 161 ms each": all of the run, as the table of its stages counts them.
std::string CheckpointsText(const RunMeasures& run, const Saves& saves) {
  const ProcessStages* stages = run.stages.Main();
  const StageTotal* all = stages == nullptr ? nullptr : stages->Of(StageKind::kCheckpoint);
  const uint64_t count = all == nullptr ? saves.count : all->count;
  const int64_t total_ns = all == nullptr ? saves.total_ns : all->total_ns;
  return std::to_string(count) + (count == 1 ? " checkpoint took " : " checkpoints took ") +
         TimeOf(double(total_ns) / double(count)) + (count == 1 ? "" : " each");
}

// Who saves, and how that one is told to do so less often.
struct Saver {
  std::string name;  // "`save` (train.py:50)"; "": not known
  std::string less_often = "save less often";
};

Saver FindSaver(const RunMeasures& run, const ProcessSteps& main, const Saves& saves) {
  const CodeSamples samples(*run.store);
  for (const auto& [function, ns] : samples.OnStacks(main.thread, saves.spans)) {
    const bool is_own =
        OwnerOfSource(*run.store, run.store->Text(function.first)) == SourceOwner::kUser;
    if (!is_own && function.second.starts_with("ModelCheckpoint.")) {
      return {.name = "`ModelCheckpoint`",
              .less_often =
                  "save less often (Lightning: "
                  "ModelCheckpoint(every_n_train_steps=N) with a larger N, or "
                  "every_n_epochs)"};
    }
  }
  switch (OwnerOfLoop(run)) {
    case LoopOwner::kTransformers:
      return {.name = "",
              .less_often = "save less often (TrainingArguments(save_steps=N) with a larger N)"};
    case LoopOwner::kLightning:
      return {};
    case LoopOwner::kProgram:
      break;
  }
  return {.name = FunctionTexts(*run.store, samples.During(main.thread, saves.spans), 1)};
}

// Threads that write what is saved again before they are done are no remedy.
std::string ActionFor(const Saver& saver, bool on_cpu, size_t steps_each) {
  const std::string beside = "opy the state" + std::string(on_cpu ? "" : " to the CPU") +
                             " and write it in another thread or process "
                             "(torch.distributed.checkpoint.async_save)";
  if (double(steps_each) >= kStepsOfACheckpoint) {
    return 'C' + beside + ", or " + saver.less_often + ".";
  }
  std::string less_often = saver.less_often;
  less_often[0] = 'S';
  return less_often + ": a checkpoint comes every " +
         (steps_each < 2 ? "step" : std::to_string(steps_each) + " steps") + ". Or c" + beside +
         ".";
}

}  // namespace

void NoSteps(const RunMeasures& run, Findings* findings) {
  if (run.steps.Main() != nullptr) return;
  if (run.operators.calls + run.nvtx.ranges + run.gpu.kernel_count == 0) return;
  findings->push_back(
      {.title = "No training step was found",
       .seen = run.steps.how,
       .why = "Without steps there is no time per step, no breakdown and no estimate of gains.",
       .action = "Put a range around each step: with batchlight.annotate(\"step\"): ..., or name "
                 "what ends a step with --key."});
}

// The saving itself and what the loop does to the file before it goes on; nothing else of the steps
// that save, which may hold a validation too.
void CheckpointStall(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steps.empty() || main->thread.IsNone()) return;
  const Saves saves = FindSaves(run, *main);
  if (saves.count == 0) return;
  const double each_ns = double(saves.total_ns) / double(saves.count);
  const auto all_ns = double(saves.total_ns);
  if (each_ns < kCheckpointStep * double(main->duration.median)) return;
  if (all_ns < kCheckpointShare * MeanStepNs(run) * double(main->steps.size())) return;
  const Saver saver = FindSaver(run, *main, saves);
  const size_t steps_each = main->steps.size() / saves.count;
  findings->push_back({.title = saver.name.empty()
                                    ? "Saving checkpoints stalls training"
                                    : saver.name + ": saving checkpoints stalls training",
                       .seen = CheckpointsText(run, saves) + ", while a step takes " +
                               TimeOf(double(main->duration.median)) + ".",
                       .why = "The loop waits until the file is written.",
                       .action = ActionFor(saver, run.gpu.empty(), steps_each),
                       .evidence = {{.kind = "call",
                                     .name = "torch.save",
                                     .count = saves.count,
                                     .longest = LongestOf(saves.spans)}},
                       .run_gain_ns = all_ns * kCheckpointGain,
                       .run_uncertainty_ns = all_ns * kCheckpointUncertainty,
                       .patch = saves.by_torch ? PatchFor(run, steps_each) : Patch{}});
}

}  // namespace batchlight::advice
