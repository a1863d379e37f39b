// What hardware counters measured: of kernels one by one, and of GPUs over time.
#include <algorithm>
#include <string>
#include <tuple>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/counters/gpu_samples.h"
#include "analysis/counters/kernel_figures.h"
#include "analysis/cuda/gpu_peaks.h"

namespace batchlight::advice {
namespace {

// Kernels of the main process that a rule is about: those of one step.
struct Measured {
  double all_ns = 0;
  double chosen_ns = 0;
  double gain_ns = 0;  // of these
  double bytes = 0;    // that the chosen ones move
  std::vector<Evidence> evidence;

  double share() const { return all_ns > 0 ? chosen_ns / all_ns : 0; }
};

// part(kernel): how much of its time the rule is about; gain(kernel): how much of that can be had.
// Both 0 to 1.
template <typename Part, typename Gain>
Measured Choose(const RunMeasures& run, const Part& part, const Gain& gain) {
  constexpr size_t kShown = 5;
  Measured measured;
  if (run.store->counter_values.size() == 0) return measured;
  const KernelReport report = ReportKernels(*run.store, run.links, run.work);
  for (const KernelFigures& kernel : report.kernels) {
    if (kernel.process != report.kernels.front().process) continue;
    const double time_ns = kernel.time_ns * double(kernel.launches);
    measured.all_ns += time_ns;
    const double chosen_ns = time_ns * part(kernel);
    if (chosen_ns <= 0) continue;
    measured.chosen_ns += chosen_ns;
    measured.gain_ns += chosen_ns * gain(kernel);
    measured.bytes += double(kernel.launches) *
                      (kernel.dram_read_bytes.value_or(0) + kernel.dram_written_bytes.value_or(0));
    if (measured.evidence.size() == kShown) continue;
    measured.evidence.push_back({.kind = "kernel",
                                 .name = std::string(run.store->Text(kernel.name)),
                                 .count = kernel.launches,
                                 .per_step_ns = chosen_ns});
  }
  return measured;
}

bool CanBeFused(const KernelFigures& kernel) {
  switch (kernel.kernel_class.kind) {
    case KernelKind::kElementwise:
    case KernelKind::kNormalization:
    case KernelKind::kSoftmax:
    case KernelKind::kReduction:
    case KernelKind::kCopy:
    case KernelKind::kLoss:
    case KernelKind::kRandom:
      return true;
    default:
      return false;
  }
}

bool IsMemoryBound(const KernelFigures& kernel) {
  return kernel.memory && kernel.compute && *kernel.memory >= kMeasuredBusy &&
         *kernel.memory > *kernel.compute;
}

bool OnlyMovesData(const KernelFigures& kernel) {
  return IsMemoryBound(kernel) && CanBeFused(kernel);
}

// CUPTI's own kernels between those that it measures are nobody's.
bool FollowsAtOnce(const KernelsTable& kernels, const Store& store, size_t before, size_t after) {
  if (after <= before || after >= kernels.size()) return false;
  // Numbers of streams are of a context.
  const auto stream_of = [&](size_t row) {
    return std::tuple(kernels.process[row], kernels.device[row], kernels.context[row],
                      kernels.stream[row]);
  };
  for (size_t row = before + 1; row < after; ++row) {
    const bool is_of_cupti = store.Text(kernels.short_name[row]).starts_with("WaitNs");
    if (stream_of(row) == stream_of(after) && !is_of_cupti) return false;
  }
  return stream_of(before) == stream_of(after);
}

// Bytes that one of these kernels writes and the one behind it on its stream reads.
double BytesBetween(const RunMeasures& run) {
  const Store& store = *run.store;
  const KernelReport report =
      ReportKernels(store, run.links, run.work, {.wanted = {}, .each_launch = true});
  double bytes = 0;
  for (size_t i = 1; i < report.kernels.size(); ++i) {
    const KernelFigures& before = report.kernels[i - 1];
    const KernelFigures& after = report.kernels[i];
    if (after.process != report.kernels.front().process) break;
    if (before.is_graph || after.is_graph || !OnlyMovesData(before) || !OnlyMovesData(after) ||
        !FollowsAtOnce(store.kernels, store, before.row, after.row)) {
      continue;
    }
    bytes += std::min(before.dram_written_bytes.value_or(0), after.dram_read_bytes.value_or(0));
  }
  return bytes;
}

// Of the time of a product in float32 without Tensor Cores: with them it takes what their peak
// takes of its operations, and what memory takes as it is.
double GainOfTensorCores(const Store& store, const KernelFigures& kernel) {
  const auto& devices = store.gpus.device;
  const auto gpu = std::find(devices.begin(), devices.end(), kernel.device);
  if (gpu == devices.end()) return kIdleTensorGain;
  const GpusRow row = store.gpus.Row(size_t(gpu - devices.begin()));
  const GpuPeaks peaks = PeaksOf(store.Text(row.name), row);
  const double tensor = peaks.tf32_tflops > 0 ? peaks.tf32_tflops : peaks.half_tflops;
  if (tensor <= 0 || peaks.fp32_tflops <= 0) return kIdleTensorGain;
  return std::max(0.0, 1 - std::max(peaks.fp32_tflops / tensor, kernel.memory.value_or(0)));
}

void Push(Findings* findings, Finding finding, const RunMeasures& run, double gain_ns,
          double uncertainty) {
  finding.gain_ns = WithinCpuSlack(run, gain_ns);
  finding.uncertainty_ns = finding.gain_ns * uncertainty;
  findings->push_back(std::move(finding));
}

}  // namespace

// What is kept for backward is written all the same, so that of what the next one reads all is
// saved and of what is written for it a part; a kernel does not get faster than it computes.
void MemoryBoundKernels(const RunMeasures& run, Findings* findings) {
  Measured found = Choose(
      run, [](const KernelFigures& kernel) { return OnlyMovesData(kernel) ? 1.0 : 0.0; },
      [](const KernelFigures& kernel) { return 1 - *kernel.compute; });
  if (found.share() < kMemoryBoundShare || found.bytes <= 0) return;
  const double between = BytesBetween(run);
  const double saved_ns = between * (1 + kFusedWrites) * found.chosen_ns / found.bytes;
  if (saved_ns <= 0) return;
  Push(findings,
       {.title =
            "Kernels that only move data take " + PercentOf(found.share()) + " of the GPU's work",
        .seen = "Their memory is the busier part, as counters say, for " + TimeOf(found.chosen_ns) +
                " of a step; they move " + Rounded(found.bytes / 1e9) + " GB, of which at most " +
                Rounded(between / 1e9) + " GB are what one wrote and the next one reads.",
        .why = "Each of them reads its input from memory and writes its output there, for the next "
               "one to read it again.",
        .action = "Fuse them: torch.compile does it for elementwise operators, normalizations and "
                  "reductions; fused optimizers and attention for theirs. bf16 activations halve "
                  "the bytes.",
        .evidence = std::move(found.evidence)},
       run, std::min(saved_ns, found.gain_ns), kFusionUncertainty);
}

void TensorCoresIdle(const RunMeasures& run, Findings* findings) {
  Measured found = Choose(
      run,
      [](const KernelFigures& kernel) {
        const std::optional<double> tensor = kernel.Use(GpuLimit::kTensor);
        return kernel.kernel_class.is_matrix() && tensor && *tensor < kIdleTensor ? 1.0 : 0.0;
      },
      [&run](const KernelFigures& kernel) { return GainOfTensorCores(*run.store, kernel); });
  if (found.share() < kIdleTensorShare) return;
  Push(findings,
       {.title = "Products of matrices leave Tensor Cores idle",
        .seen = "Counters of the tensor pipe stay below " + PercentOf(kIdleTensor) +
                " in products, convolutions or attention that take " + TimeOf(found.chosen_ns) +
                " of a step (" + PercentOf(found.share()) + " of the GPU's work).",
        .why = "Other pipes multiply at a fraction of the rate.",
        .action = "Let FP32 products use TF32 (torch.set_float32_matmul_precision(\"high\")), or "
                  "train under torch.autocast with bf16; sizes that are multiples of 8 are needed "
                  "for some kernels.",
        .evidence = std::move(found.evidence)},
       run, found.gain_ns, kIdleTensorUncertainty);
}

void TailWaves(const RunMeasures& run, Findings* findings) {
  Measured found = Choose(
      run, [](const KernelFigures& kernel) { return kernel.theoretical.tail_fraction; },
      [](const KernelFigures&) { return kTailGain; });
  if (found.share() < kTailShare) return;
  Push(
      findings,
      {.title = "Last waves of blocks leave the GPU idle for " + PercentOf(found.share()) +
                " of the kernels' time",
       .seen = "The blocks of these kernels fill the GPU some times over, and then a part of it: " +
               TimeOf(found.chosen_ns) + " of a step.",
       .why = "While the last blocks run, the other multiprocessors wait for them.",
       .action = "Batch sizes and widths that make the number of blocks a multiple of what fits "
                 "(kernel_occupancy has the waves) lose nothing; larger ones lose less.",
       .evidence = std::move(found.evidence)},
      run, found.gain_ns, kTailUncertainty);
}

void ClockHeldBack(const RunMeasures& run, Findings* findings) {
  if (run.store->gpu_metric_samples.size() == 0) return;
  for (const GpuMetricSum& sum : SumGpuMetrics(*run.store, run.steps)) {
    const std::string_view name = run.store->Text(sum.metric);
    const bool power = name == "held back by power";
    if ((!power && name != "held back by heat") || sum.mean < kHeldBack * 100) continue;
    const double share = (sum.step_samples > 0 ? sum.step_mean : sum.mean) / 100;
    if (share < kHeldBack) continue;
    const std::string gpu = "GPU " + std::to_string(sum.device);
    findings->push_back(
        {.title = std::string(power ? "Power" : "Heat") + " holds the clock of " + gpu + " back",
         .seen = "In " + PercentOf(share) + " of the samples NVML says so.",
         .why = power ? "At its power limit a GPU lowers its clock; products of matrices at full "
                        "speed bring it there, and then it is used well."
                      : "A GPU that is too hot lowers its clock.",
         .action = power ? "Where other GPUs of the job run at a higher clock, look at the limit "
                           "(nvidia-smi -q -d POWER); else nothing is wrong."
                         : "Look at the cooling of this host (nvidia-smi -q -d TEMPERATURE); other "
                           "ranks wait for its GPU.",
         .evidence = {{.kind = "setting", .name = gpu + " " + std::string(name)}},
         .kind = FindingKind::kSymptom});
  }
}

}  // namespace batchlight::advice
