#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/phase_rows.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {
namespace {

int IntegerProperty(const RunMeasures& run, std::string_view key) {
  const std::string_view text = TrainingProperty(run, key);
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double RealProperty(const RunMeasures& run, std::string_view key) {
  const std::string text(TrainingProperty(run, key));
  return text.empty() ? 0 : std::strtod(text.c_str(), nullptr);
}

}  // namespace

void LaunchBlocking(const RunMeasures& run, Findings* findings) {
  const std::string_view value = TrainingProperty(run, "environment.CUDA_LAUNCH_BLOCKING");
  if (value.empty() || value == "0") return;
  const double idle_ns =
      GpuPartNs(run, GpuPart::kIdleLaunch) + GpuPartNs(run, GpuPart::kIdleSynchronization) +
      GpuPartNs(run, GpuPart::kIdleOperators) + GpuPartNs(run, GpuPart::kIdlePython);
  findings->push_back({.title = "CUDA_LAUNCH_BLOCKING makes every launch wait",
                       .seen = "CUDA_LAUNCH_BLOCKING=" + std::string(value) + " is set.",
                       .why = "It is for finding errors: CPU and GPU never work at the same time.",
                       .action = "Unset CUDA_LAUNCH_BLOCKING.",
                       .gain_ns = idle_ns * kBlockingGain,
                       .uncertainty_ns = idle_ns * kBlockingUncertainty,
                       .evidence = {{.kind = "setting", .name = "CUDA_LAUNCH_BLOCKING"}}});
}

void AnomalyDetection(const RunMeasures& run, Findings* findings) {
  if (TrainingProperty(run, "torch.anomaly_detection") != "True") return;
  const double step_ns = MeanStepNs(run);
  findings->push_back(
      {.title = "Autograd's anomaly detection is on",
       .seen = "torch.autograd.set_detect_anomaly(True) was in effect while training.",
       .why =
           "It takes a stack trace in every operator and checks every gradient for NaN, which also "
           "makes the CPU wait for the GPU.",
       .action = "Leave it off except while looking for a NaN.",
       .gain_ns = step_ns * kAnomalyGain,
       .uncertainty_ns = step_ns * kAnomalyUncertainty,
       .evidence = {{.kind = "setting", .name = "set_detect_anomaly"}}});
}

void TooManyThreads(const RunMeasures& run, Findings* findings) {
  const int threads = IntegerProperty(run, "torch.threads");
  const int processors = IntegerProperty(run, "machine.cores");
  const int processes = static_cast<int>(run.steps.processes.size());
  if (threads == 0 || processors == 0 || processes == 0) return;
  if (double(threads) * processes <= kThreadsPerProcessor * processors) return;
  findings->push_back(
      {.title = "More computing threads than processors",
       .seen = std::to_string(processes) + " training process" + (processes == 1 ? "" : "es") +
               " with " + std::to_string(threads) + " threads each share " +
               std::to_string(processors) + " processors.",
       .why = "Threads that take turns on a processor wait for each other at the end of every "
              "operator.",
       .action = "torch.set_num_threads(" + std::to_string(std::max(1, processors / processes)) +
                 ") or OMP_NUM_THREADS in the environment; in DataLoader workers it is 1 already.",
       .evidence = {{.kind = "setting", .name = "torch.get_num_threads()"}}});
}

// A GPU that is busy all the time gains nothing from a larger batch, whatever its memory.
void MemoryUnderused(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  const double total = RealProperty(run, "torch.gpu_memory_bytes");
  const double peak = RealProperty(run, "torch.peak_reserved_bytes");
  if (gpu == nullptr || total == 0 || peak == 0 || peak > kMemoryUse * total) return;
  if (gpu->busy_share > kBusyGpu) return;
  findings->push_back(
      {.title = "Most of the GPU's memory is unused",
       .seen = "At most " + Rounded(peak / 1e9) + " of " + Rounded(total / 1e9) +
               " GB were reserved, and the GPU is busy " + PercentOf(gpu->busy_share) +
               " of the time.",
       .why = "A larger batch gives every launch more work for the same cost of launching.",
       .action = "Raise the batch size (and the learning rate with it); activations grow with it, "
                 "parameters and optimizer state do not.",
       .evidence = {{.kind = "setting", .name = "torch.cuda.max_memory_reserved()"}}});
}

// On the CPU too a foreach or fused optimizer saves the cost of calling operators one by one.
void ForeachOptimizerOnCpu(const RunMeasures& run, Findings* findings) {
  if (!run.gpu.empty() || run.steps.Main() == nullptr) return;
  const Store& store = *run.store;
  uint64_t operators = 0;
  const PhaseTime optimizer =
      VisitInPhase(store, run.steps, Phase::kOptimizerStep, store.operator_calls, [&](size_t call) {
        // _foreach_, _fused_
        operators += !store.Text(store.operator_calls.name[call]).starts_with("aten::_f");
      });
  if (double(operators) <= kOptimizerOperators * double(optimizer.calls)) return;
  const double step_ns = MeanStepNs(run);
  const double optimizer_ns = optimizer.mean_ns();
  if (optimizer_ns < kOptimizerCpuShare * step_ns) return;
  findings->push_back(
      {.title = "The optimizer updates each parameter on its own",
       .seen = "An optimizer step runs " + Rounded(double(operators) / double(optimizer.calls)) +
               " operators in " + TimeOf(optimizer_ns) + " (" + PercentOf(optimizer_ns / step_ns) +
               " of a step).",
       .why = "Each operator costs a few microseconds beside its arithmetic.",
       .action =
           "Pass fused=True or foreach=True to the optimizer where your PyTorch has it for the "
           "CPU; merge small parameters.",
       .gain_ns = optimizer_ns * kOptimizerCpuGain,
       .uncertainty_ns = optimizer_ns * kOptimizerCpuUncertainty,
       .evidence = {{.kind = "call",
                     .name = "Optimizer.step",
                     .count = optimizer.calls,
                     .per_step_ns = optimizer_ns}}});
}

}  // namespace batchlight::advice
