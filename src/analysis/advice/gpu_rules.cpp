#include <algorithm>
#include <cctype>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "format/records.h"

namespace batchlight::advice {
namespace {

constexpr double kShortKernelNs = 5'000;  // about what a launch costs the CPU

double LaunchIdleNs(const RunOverview& overview) {
  return GpuPartNs(overview, GpuPart::kIdleLaunch) + GpuPartNs(overview, GpuPart::kIdleOperators) +
         GpuPartNs(overview, GpuPart::kIdlePython);
}

double KernelsPerStep(const RunOverview& overview) {
  double count = 0;
  for (const KernelRow& kernel : overview.gpu.kernels) count += kernel.calls_per_step;
  return count;
}

struct OptimizerLaunches {
  uint64_t steps = 0;
  uint64_t launches = 0;
  int64_t total_ns = 0;
};

// Kernel launches inside calls of Optimizer.step. Both tables are ordered by (thread, start).
OptimizerLaunches CountOptimizerLaunches(const Store& store) {
  OptimizerLaunches found;
  const PhaseCallsTable& phases = store.phase_calls;
  const ApiCallsTable& calls = store.api_calls;
  size_t call = 0;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != static_cast<uint8_t>(format::Phase::kOptimizerStep) ||
        phases.end_ns[row] == kOpenEnd) {
      continue;
    }
    ++found.steps;
    found.total_ns += phases.end_ns[row] - phases.start_ns[row];
    const auto before = [&](size_t at) {
      return calls.thread[at] < phases.thread[row] ||
             (calls.thread[at] == phases.thread[row] && calls.start_ns[at] < phases.start_ns[row]);
    };
    while (call < calls.size() && before(call)) ++call;
    for (; call < calls.size() && calls.thread[call] == phases.thread[row] &&
           calls.start_ns[call] < phases.end_ns[row];
         ++call) {
      found.launches += store.Text(calls.name[call]).find("LaunchKernel") != std::string_view::npos;
    }
  }
  return found;
}

}  // namespace

void GpuUnderused(const RunOverview& overview, Findings* findings) {
  const GpuBreakdown* gpu = overview.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->window.count == 0 || gpu->busy_share >= 0.8) return;
  GpuPart largest = GpuPart::kIdleDataLoading;
  Finding finding{.title = "The GPU is idle " + PercentOf(1 - gpu->busy_share) + " of the time"};
  for (size_t i = static_cast<size_t>(GpuPart::kIdleDataLoading); i < kGpuPartCount; ++i) {
    const GpuPart part = static_cast<GpuPart>(i);
    if (GpuShare(overview, part) > GpuShare(overview, largest)) largest = part;
    if (GpuShare(overview, part) >= 0.01) {
      finding.evidence.push_back({.kind = "part",
                                  .name = std::string(GpuPartName(part)),
                                  .per_step_ns = GpuPartNs(overview, part)});
    }
  }
  finding.seen = "Of a step's " + TimeOf(gpu->window.mean) + " on the GPU " +
                 PercentOf(gpu->busy_share) + " is work. The largest cause of idle time is \"" +
                 std::string(GpuPartName(largest)) + "\", " +
                 PercentOf(GpuShare(overview, largest)) + " of the step.";
  finding.why = std::string(GpuPartHelp(largest)) + ".";
  finding.why[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(finding.why[0])));
  finding.action =
      "See the findings about that cause; a larger batch gives every launch more work.";
  findings->push_back(std::move(finding));
}

void LaunchBound(const RunOverview& overview, Findings* findings) {
  const GpuBreakdown* gpu = overview.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->window.mean <= 0) return;
  const double idle_ns = LaunchIdleNs(overview);
  if (idle_ns < 0.15 * gpu->window.mean) return;
  findings->push_back(
      {.title = "Training is bound by launches, not by the GPU",
       .seen = "The GPU waits " + TimeOf(idle_ns) + " of every step (" +
               PercentOf(idle_ns / gpu->window.mean) + ") for the CPU to launch the next of " +
               Rounded(KernelsPerStep(overview)) + " kernels.",
       .why = "Each operator costs the CPU several microseconds in Python, PyTorch and the driver; "
              "its kernels are over before the next is launched.",
       .action =
           "Capture the step in a CUDA graph (torch.compile(model, mode=\"reduce-overhead\") or "
           "torch.cuda.make_graphed_callables), fuse operators with torch.compile, or raise the "
           "batch size.",
       .gain_ns = idle_ns * 0.75,
       .uncertainty_ns = idle_ns * 0.2,
       .evidence = {{.kind = "part",
                     .name = "idle: CUDA calls",
                     .per_step_ns = GpuPartNs(overview, GpuPart::kIdleLaunch)},
                    {.kind = "part",
                     .name = "idle: operators",
                     .per_step_ns = GpuPartNs(overview, GpuPart::kIdleOperators)},
                    {.kind = "part",
                     .name = "idle: Python and other",
                     .per_step_ns = GpuPartNs(overview, GpuPart::kIdlePython)}}});
}

void SmallKernels(const RunOverview& overview, Findings* findings) {
  const GpuBreakdown* gpu = overview.gpu.MainBreakdown();
  if (gpu == nullptr) return;
  double count = 0;
  double time_ns = 0;
  Finding finding;
  for (const KernelRow& kernel : overview.gpu.kernels) {
    if (kernel.average_ns() >= kShortKernelNs) continue;
    count += kernel.calls_per_step;
    time_ns += kernel.per_step_ns;
    if (finding.evidence.size() < 5) {
      finding.evidence.push_back({.kind = "kernel",
                                  .name = std::string(overview.store->Text(kernel.short_name)),
                                  .count = kernel.calls,
                                  .per_step_ns = kernel.per_step_ns});
    }
  }
  // Where the GPU is busy anyway, short kernels are hidden behind it.
  if (count < 100 || gpu->busy_share > 0.9) return;
  const double idle_ns = LaunchIdleNs(overview);
  const double part = count / std::max(1.0, KernelsPerStep(overview));
  finding.title = Rounded(count) + " kernels a step are shorter than their launch";
  finding.seen = Rounded(count) + " of " + Rounded(KernelsPerStep(overview)) +
                 " kernels a step take " + TimeOf(time_ns / std::max(1.0, count)) + " on average.";
  finding.why =
      "A launch costs the CPU about 5 microseconds, so that these cannot keep the GPU busy.";
  finding.action =
      "Fuse them: torch.compile(model), fused or foreach optimizers, fused attention "
      "(scaled_dot_product_attention) and norms.";
  finding.gain_ns = idle_ns * part * 0.5;
  finding.uncertainty_ns = idle_ns * part * 0.3;
  findings->push_back(std::move(finding));
}

void UnfusedOptimizer(const RunOverview& overview, Findings* findings) {
  if (overview.steps.Main() == nullptr || overview.gpu.kernel_count == 0) return;
  const OptimizerLaunches found = CountOptimizerLaunches(*overview.store);
  if (found.steps == 0 || found.launches <= 100 * found.steps) return;
  const double optimizer_ns = double(found.total_ns) / double(found.steps);
  const double exposed_ns = optimizer_ns * std::clamp(CpuExposure(overview) * 1.5, 0.0, 1.0);
  findings->push_back({.title = "The optimizer updates each parameter with kernels of its own",
                       .seen = "An optimizer step launches " +
                               Rounded(double(found.launches) / double(found.steps)) +
                               " kernels and takes the CPU " + TimeOf(optimizer_ns) + ".",
                       .why = "A fused optimizer updates all parameters in a handful of launches.",
                       .action = "Pass fused=True (or foreach=True) to torch.optim's optimizer.",
                       .gain_ns = exposed_ns * 0.5,
                       .uncertainty_ns = exposed_ns * 0.2,
                       .evidence = {{.kind = "call",
                                     .name = "Optimizer.step",
                                     .count = found.steps,
                                     .per_step_ns = optimizer_ns}}});
}

void ExposedCommunication(const RunOverview& overview, Findings* findings) {
  const double share = GpuShare(overview, GpuPart::kCommunication);
  if (share < 0.05) return;
  const GpuBreakdown* gpu = overview.gpu.MainBreakdown();
  const double exposed_ns = GpuPartNs(overview, GpuPart::kCommunication);
  Finding finding{
      .title = "Communication is not hidden behind computing",
      .seen = "NCCL runs alone for " + TimeOf(exposed_ns) + " of a step (" + PercentOf(share) +
              "); " + TimeOf(gpu->overlapped_communication_ns) + " more is hidden.",
      .why = "Gradients can be reduced while backward still computes; what comes after it waits.",
      .action =
          "DistributedDataParallel: tune bucket_cap_mb so that the last bucket is small, set "
          "gradient_as_bucket_view=True; skip reductions while accumulating gradients "
          "(no_sync); send in bf16 (a communication hook). FSDP: prefetch "
          "(backward_prefetch, forward_prefetch).",
      .gain_ns = exposed_ns * 0.6,
      .uncertainty_ns = exposed_ns * 0.3};
  for (const KernelRow& kernel : overview.gpu.kernels) {
    if (kernel.kind.kind != KernelKind::kCommunication || finding.evidence.size() >= 5) continue;
    finding.evidence.push_back({.kind = "kernel",
                                .name = std::string(overview.store->Text(kernel.short_name)),
                                .count = kernel.calls,
                                .per_step_ns = kernel.per_step_ns});
  }
  findings->push_back(std::move(finding));
}

void GridTooSmall(const RunOverview& overview, Findings* findings) {
  double small_ns = 0;
  Finding finding;
  for (const KernelRow& kernel : overview.gpu.kernels) {
    const Occupancy& occupancy = kernel.occupancy;
    // waves * blocks per SM = blocks per SM in the grid
    if (occupancy.blocks_per_sm == 0 || occupancy.waves * occupancy.blocks_per_sm >= 1) continue;
    if (kernel.average_ns() < kShortKernelNs) continue;  // launch overhead is their problem
    small_ns += double(kernel.total_ns);
    if (finding.evidence.size() < 5) {
      finding.evidence.push_back({.kind = "kernel",
                                  .name = std::string(overview.store->Text(kernel.short_name)),
                                  .count = kernel.calls,
                                  .per_step_ns = kernel.per_step_ns});
    }
  }
  if (overview.gpu.kernel_ns == 0) return;
  const double share = small_ns / double(overview.gpu.kernel_ns);
  if (share < 0.2) return;
  finding.title = "Kernels are too small for the GPU";
  finding.seen = PercentOf(share) + " of kernel time runs on fewer blocks than the GPU has SMs.";
  finding.why = "The rest of the GPU is idle meanwhile.";
  finding.action = "Raise the batch size, or run independent work on several streams.";
  findings->push_back(std::move(finding));
}

}  // namespace batchlight::advice
