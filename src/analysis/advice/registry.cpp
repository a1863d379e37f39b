#include <algorithm>
#include <array>

#include "analysis/advice/rules.h"

namespace batchlight {
namespace {

// Rules that shorten the same time: after one of them, another has less left to gain, or nothing.
using RuleGroup = std::array<std::string_view, 6>;
constexpr RuleGroup kSameTime[] = {
    {"tf32-off", "amp-off"},                 // matrix products in FP32
    {"channels-last", "unfused-pointwise"},  // norms
    {"pageable-copy", "exposed-copies"},     // copies that nothing hides
    // The GPU's wait for launches.
    {"launch-bound", "small-kernels", "unfused-optimizer", "host-sync", "launch-blocking",
     "anomaly-detection"},
};

bool GainSameTime(std::string_view a, std::string_view b) {
  return std::any_of(std::begin(kSameTime), std::end(kSameTime), [&](const RuleGroup& group) {
    return std::find(group.begin(), group.end(), a) != group.end() &&
           std::find(group.begin(), group.end(), b) != group.end();
  });
}

// `findings` are sorted by gain.
void NameSharedGains(std::vector<Finding>* findings) {
  for (auto later = findings->begin(); later != findings->end() && later->gain_ns > 0; ++later) {
    for (auto earlier = findings->begin(); earlier != later; ++earlier) {
      if (GainSameTime(earlier->rule, later->rule)) later->same_time_as.push_back(earlier->rule);
    }
  }
}

}  // namespace

const std::vector<AdviceRule>& AdviceRules() {
  static const std::vector<AdviceRule> rules = {
      {"no-steps", "no step of a training loop was found", advice::NoSteps},
      {"uneven-steps", "the mean step is more than 5 % longer than the median",
       advice::UnevenSteps},
      {"checkpoint-stall", "steps that save a checkpoint are twice as long",
       advice::CheckpointInStep},
      {"recompilation", "torch.compile compiled again after the warm-up", advice::Recompilation},
      {"dataloader-wait", "5 % of a step or more is exposed waiting for data",
       advice::DataLoaderWait},
      {"dataloader-restart", "starting the DataLoader again takes longer than a step",
       advice::DataLoaderRestart},
      {"gpu-underused", "a GPU is busy less than 80 % of a step", advice::GpuUnderused},
      {"launch-bound", "15 % of a step or more the GPU waits for launches", advice::LaunchBound},
      {"small-kernels", "100 or more kernels a step are shorter than their launch",
       advice::SmallKernels},
      {"unfused-optimizer", "the optimizer launches more than 100 kernels a step",
       advice::UnfusedOptimizer},
      {"unfused-optimizer-cpu", "the optimizer runs more than 200 operators a step on the CPU",
       advice::ForeachOptimizerOnCpu},
      {"exposed-communication", "5 % of a step or more is communication that nothing hides",
       advice::ExposedCommunication},
      {"grid-too-small", "35 % of kernel time runs on fewer blocks than the GPU has SMs",
       advice::GridTooSmall},
      {"serialized-streams",
       "kernels on several streams wait for each other instead of overlapping",
       advice::SerializedStreams},
      {"host-sync", "the CPU waits for the GPU inside the step", advice::HostSynchronization},
      {"pageable-copy", "copies from pageable memory in every step", advice::PageableCopies},
      {"exposed-copies", "3 % of a step or more is copies that nothing hides",
       advice::ExposedCopies},
      {"allocator-retries", "GPU memory is allocated or released in steady steps",
       advice::AllocatorRetries},
      {"tf32-off", "10 % of kernel time is FP32 matrix products without Tensor Cores",
       advice::Tf32Off},
      {"amp-off", "matrix products run in FP32 or TF32 and take 10 % of kernel time",
       advice::MixedPrecisionOff},
      {"unaligned-products", "5 % of kernel time is Tensor Core products of odd sizes",
       advice::UnalignedProducts},
      {"unfused-pointwise", "20 % of kernel time passes over memory, one operator a kernel",
       advice::UnfusedPointwise},
      {"channels-last",
       "2 % of kernel time converts layouts around convolutions, or 10 % is norms and depthwise "
       "convolutions on NCHW",
       advice::LayoutConversions},
      {"cudnn-benchmark-off", "convolutions take 5 % of kernel time and cudnn.benchmark is off",
       advice::CudnnBenchmarkOff},
      {"launch-blocking", "CUDA_LAUNCH_BLOCKING is set", advice::LaunchBlocking},
      {"anomaly-detection", "autograd's anomaly detection is on", advice::AnomalyDetection},
      {"memory-underused", "less than half of the GPU's memory is used and the GPU is not busy",
       advice::MemoryUnderused},
      {"too-many-threads", "more computing threads than processors", advice::TooManyThreads},
  };
  return rules;
}

std::vector<Finding> FindAdvice(const RunMeasures& run) {
  std::vector<Finding> findings;
  for (const AdviceRule& rule : AdviceRules()) {
    const size_t before = findings.size();
    rule.find(run, &findings);
    for (size_t i = before; i < findings.size(); ++i) findings[i].rule = rule.id;
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.gain_ns > b.gain_ns; });
  NameSharedGains(&findings);
  return findings;
}

namespace advice {

double MeanStepNs(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  return main == nullptr ? 0 : main->duration.mean;
}

bool CanBeSeen(const RunMeasures& run, double gain_ns) {
  return gain_ns >= 0.005 * MeanStepNs(run);
}

double GpuShare(const RunMeasures& run, GpuPart part) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  return gpu == nullptr ? 0 : gpu->share[static_cast<size_t>(part)];
}

double GpuPartNs(const RunMeasures& run, GpuPart part) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  return gpu == nullptr ? 0 : gpu->steady[static_cast<size_t>(part)].mean;
}

double LaunchIdleNs(const RunMeasures& run) {
  return GpuPartNs(run, GpuPart::kIdleLaunch) + GpuPartNs(run, GpuPart::kIdleOperators) +
         GpuPartNs(run, GpuPart::kIdlePython);
}

double PhaseShareOf(const RunMeasures& run, PhaseKind kind) {
  const StepBreakdown* breakdown = run.MainBreakdown();
  if (breakdown == nullptr) return 0;
  double share = 0;
  for (const PhaseShare& phase : breakdown->phases) {
    if (phase.kind == kind) share += phase.share;
  }
  return share;
}

std::string_view TrainingProperty(const RunMeasures& run, std::string_view key) {
  const ProcessSteps* main = run.steps.Main();
  return main == nullptr ? run.store->Property(key) : run.store->Property(key, main->process);
}

bool HasSmallGrid(const KernelRow& kernel) {
  const Occupancy& occupancy = kernel.occupancy;
  // waves * blocks per SM = blocks per SM in the grid
  return occupancy.blocks_per_sm != 0 && occupancy.waves * occupancy.blocks_per_sm < 1;
}

bool IsCompiled(const RunMeasures& run) {
  const std::vector<ModuleRow>& modules = run.modules.rows;
  const std::vector<KernelRow>& kernels = run.gpu.kernels;
  return std::any_of(modules.begin(), modules.end(),
                     [](const ModuleRow& row) { return row.class_name == "OptimizedModule"; }) ||
         std::any_of(kernels.begin(), kernels.end(), [&](const KernelRow& row) {
           return run.store->Text(row.name).starts_with("triton_");
         });
}

double CpuExposure(const RunMeasures& run) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  return gpu == nullptr ? 1 : 1 - gpu->busy_share;
}

}  // namespace advice
}  // namespace batchlight
