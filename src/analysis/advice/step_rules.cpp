#include <algorithm>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {

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

void UnevenSteps(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || double(main->duration.count) < kUnevenSteps) return;
  const Sample& duration = main->duration;
  double excess_ns = duration.mean - static_cast<double>(duration.median);
  if (excess_ns < kUnevenExcess * static_cast<double>(duration.median)) return;
  // A CPU that runs ahead of the GPU launches some steps at once and then waits: only what makes
  // the GPU's steps uneven too costs time.
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu != nullptr && gpu->window.count != 0) {
    const double of_gpu_ns = gpu->window.mean - static_cast<double>(gpu->window.median);
    if (of_gpu_ns < kUnevenExcess * static_cast<double>(gpu->window.median)) return;
    excess_ns = std::min(excess_ns, of_gpu_ns);
  }
  Finding finding{
      .title = "Steps are uneven",
      .seen = "The median step takes " + TimeOf(double(duration.median)) + ", the mean " +
              TimeOf(duration.mean) + ", 1 in 20 takes " + TimeOf(double(duration.p95)) +
              " or more (" + std::to_string(main->outlier_count) + " outliers of " +
              std::to_string(duration.count) + " steps).",
      .why =
          "A few slow steps set the throughput; with several ranks every rank waits for the "
          "slowest one.",
      .action =
          "Look at the longest in the table of steps: the phase that grew in them names the "
          "cause (data loading, garbage collection, evaluation, changing input sizes).",
      .gain_ns = excess_ns,
      .uncertainty_ns = excess_ns * kUnevenUncertainty};
  for (const uint32_t row : main->steady) {
    const Step& step = main->steps[row];
    if (!step.outlier || finding.evidence.size() >= 5) continue;
    finding.evidence.push_back({.kind = "step",
                                .name = std::to_string(step.number),
                                .count = 1,
                                .per_step_ns = double(step.duration_ns())});
  }
  findings->push_back(std::move(finding));
}

void CheckpointInStep(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steps.empty()) return;
  // Between two steps, or in the middle of one that took so much longer.
  std::vector<int64_t> stalls;
  for (const StepPause& pause : main->pauses) {
    if (pause.kind == StepKind::kCheckpoint) stalls.push_back(pause.duration_ns());
  }
  for (const Step& step : main->steps) {
    if (step.kind != StepKind::kCheckpoint) continue;
    stalls.push_back(step.duration_ns() - int64_t(main->duration.mean));
  }
  const Sample saving = Summarize(std::move(stalls));
  const double least_ns = (kCheckpointStep - 1) * double(main->duration.median);
  if (saving.count == 0 || double(saving.median) < least_ns) return;
  const double per_step_ns = double(saving.total) / double(main->steps.size());
  findings->push_back(
      {.title = "Saving checkpoints stalls training",
       .seen = std::to_string(saving.count) + " checkpoints are saved while training waits, " +
               TimeOf(saving.mean) + " each; a step takes " + TimeOf(main->duration.mean) + ".",
       .why = "The loop waits until the file is written.",
       .action = "Copy the state to the CPU and write it in another thread or process "
                 "(torch.distributed.checkpoint.async_save), or save less often.",
       .gain_ns = per_step_ns,
       .uncertainty_ns = per_step_ns * kCheckpointUncertainty,
       .evidence = {{.kind = "step", .name = "checkpoint", .count = saving.count}}});
}

void Recompilation(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty()) return;
  const PhaseCallsTable& phases = run.store->phase_calls;
  const int64_t first_ns = main->steps[main->steady.front()].start_ns;
  const int64_t last_ns = main->steps[main->steady.back()].end_ns;
  uint64_t count = 0;
  int64_t total_ns = 0;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kCompile || !phases.parent[row].IsNone() ||
        phases.end_ns[row] == kOpenEnd) {
      continue;
    }
    if (phases.start_ns[row] < first_ns || phases.start_ns[row] >= last_ns) continue;
    ++count;
    total_ns += phases.end_ns[row] - phases.start_ns[row];
  }
  if (count == 0) return;
  const double per_step_ns = double(total_ns) / double(main->steps.size());
  findings->push_back(
      {.title = "torch.compile compiles again while training",
       .seen = std::to_string(count) + " compilations after the warm-up took " +
               TimeOf(double(total_ns)) + ".",
       .why = "A guard failed: an input had a new size, or a Python value that was compiled in "
              "changed.",
       .action = "Run with TORCH_LOGS=recompiles to see which guard; mark changing sizes with "
                 "torch._dynamo.mark_dynamic, or pad the inputs to a few sizes.",
       .gain_ns = per_step_ns,
       .uncertainty_ns = per_step_ns * kRecompilationUncertainty,
       .evidence = {{.kind = "call", .name = "torch.compile", .count = count}}});
}

}  // namespace batchlight::advice
