#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/gpu/module_of_kernels.h"
#include "analysis/advice/gpu/part_evidence.h"
#include "analysis/advice/gpu/told_plans.h"
#include "analysis/advice/kernel_evidence.h"
#include "analysis/advice/rules.h"
#include "analysis/gpu/steady_waits.h"
#include "analysis/numbers/quantile.h"
#include "analysis/steps/graph_use.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight::advice {
namespace {

// Those that the CPU launches one by one, as it does not those of a graph.
double LaunchesPerStep(const RunMeasures& run) {
  double count = 0;
  for (const KernelRow& kernel : run.gpu.kernels) count += kernel.launches_per_step();
  return count;
}

// Launches of whole CUDA graphs in a steady step of the main process.
double GraphsPerStep(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->thread.IsNone()) return 0;
  StepLookup lookup(main);
  double count = 0;
  for (const uint32_t row : FindGraphUse(*run.store, main->thread).replays) {
    count += lookup.IsSteadyAt(run.store->api_calls.start_ns[row]);
  }
  return main->steady.empty() ? 0 : count / double(main->steady.size());
}

// Parts of the loop that a graph of the step, or compiling the model, launches for the CPU.
constexpr std::array kLaunchedPhases = {
    PhaseKind::kCopyToDevice, PhaseKind::kZeroGrad,  PhaseKind::kForward,
    PhaseKind::kLoss,         PhaseKind::kBackward,  PhaseKind::kCommunication,
    PhaseKind::kOptimizer,    PhaseKind::kUserRange,
};

// In no phase, or in a function that gpu-held-back tells of.
double IdleBesideTheModelNs(const RunMeasures& run) {
  const HoldingFunction* held = HolderOfGpu(run);
  const double held_ns = held == nullptr ? 0 : held->LaunchIdleNs();
  return std::max(held_ns, run.loop_work.beside.launch_idle_ns);
}

// How long the GPU waits for launches in the quietest tenth of the steps; the mean where steps do
// not have the same work to launch. What other steps wait beyond that is no matter of launching:
// other programs, threads or garbage took the time.
double QuietLaunchIdleNs(const RunMeasures& run) {
  const double mean_ns = LaunchIdleNs(run);
  const ProcessSteps* main = run.steps.Main();
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (main == nullptr || gpu == nullptr || gpu->process != main->process) return mean_ns;
  if (double(main->steady.size()) < kQuietSteps) return mean_ns;
  std::vector<double> busy_ns, idle_ns;
  for (const uint32_t row : main->steady) {
    const GpuStepParts& step = gpu->steps[row];
    if (step.duration_ns() <= 0) continue;
    const auto part_ns = [&](GpuPart part) {
      return double(step.part_ns[static_cast<size_t>(part)]);
    };
    busy_ns.push_back(SumOfParts([](GpuPart part) { return !IsIdle(part); }, part_ns));
    idle_ns.push_back(SumOfParts(IsIdleBeforeLaunch, part_ns));
  }
  if (double(idle_ns.size()) < kQuietSteps) return mean_ns;
  const double spread_ns = Quantile(busy_ns, 0.9) - Quantile(busy_ns, 0.1);
  if (spread_ns > kSameWork * Quantile(busy_ns, 0.5)) return mean_ns;
  return std::min(mean_ns, Quantile(idle_ns, 0.1));
}

// Of the time that the GPU waits for launches what launching the model faster can save. What the
// loop does beside it, as averages of weights and metrics, stays as it is, and so does what a
// function launches that slow-function names; anomaly detection is better switched off than
// captured, and what cuDNN plans no graph holds.
double LaunchableIdleNs(const RunMeasures& run) {
  double idle_ns = LaunchIdleNs(run) - SlowFunctionNs(run) - AnomalyNs(run);
  idle_ns = std::max(0.0, idle_ns - ToldPlans(run).per_step_ns());
  idle_ns = std::min(idle_ns, QuietLaunchIdleNs(run));
  if (PhaseShareOf(run, PhaseKind::kForward) <= 0) return idle_ns;
  idle_ns = std::max(0.0, idle_ns - IdleBesideTheModelNs(run));
  double share = 0;
  for (const PhaseKind phase : kLaunchedPhases) share += PhaseShareOf(run, phase);
  return std::min(idle_ns, share * MeanStepNs(run));
}

// What of that is left where nothing is recorded: a recorded launch takes the CPU longer.
double UnrecordedIdleNs(const RunMeasures& run) {
  const RecordingCost& cost = run.recording_cost;
  return LaunchableIdleNs(run) - (cost.measured ? std::max(0.0, cost.measured->ns) : cost.high_ns);
}

bool IsLaunchBound(const RunMeasures& run, const GpuBreakdown& gpu) {
  return LaunchableIdleNs(run) >= kLaunchIdle * gpu.window.mean &&
         UnrecordedIdleNs(run) >= kVisibleGain * gpu.window.mean;
}

bool IsShort(const KernelRow& kernel) { return kernel.average_ns() < kShortKernelNs; }

// ", 4205 of them shorter than their launch"; "" where that is the smaller part.
std::string ShortKernelsText(const RunMeasures& run) {
  double count = 0;
  for (const KernelRow& kernel : run.gpu.kernels) {
    if (IsShort(kernel)) count += kernel.launches_per_step();
  }
  if (count < LaunchesPerStep(run) / 2) return "";
  return ", " + Rounded(count) + " of them shorter than their launch";
}

// "1 CUDA graph", "3 CUDA graphs"
std::string GraphsText(double graphs) {
  return MeanCountText(graphs) + (graphs < 1.5 ? " CUDA graph" : " CUDA graphs");
}

// Beside the graphs that a step replays it launches hardly anything.
bool LaunchesGraphsAlone(const RunMeasures& run) { return LaunchesPerStep(run) < kCallOfEveryStep; }

// What the GPU waits for: "713 kernels, 512 of them shorter than their launch".
std::string LaunchedText(const RunMeasures& run, double graphs) {
  if (graphs < kCallOfEveryStep) {
    return "the next of " + Rounded(LaunchesPerStep(run)) + " kernels" + ShortKernelsText(run);
  }
  if (LaunchesGraphsAlone(run)) {
    return graphs < 1.5 ? "its CUDA graph" : "the next of " + GraphsText(graphs);
  }
  return "the next of " + GraphsText(graphs) + " and " + Rounded(LaunchesPerStep(run)) +
         " kernels beside" + ShortKernelsText(run);
}

// What to do about launches, where the step replays graphs.
std::string ActionBesideGraphs(const RunMeasures& run, double graphs) {
  const std::string replays = "The step replays " + GraphsText(graphs) + " already";
  if (LaunchesGraphsAlone(run)) {
    return replays +
           (graphs < 1.5 ? ": capture several steps in one, "
                         : ": capture them as one, or several steps, ") +
           "do less between two replays, or raise the batch size.";
  }
  return replays +
         "; what lies between them is launched one by one. Capture that too (loss, optimizer, "
         "copies into static inputs), look for graph breaks (TORCH_LOGS=graph_breaks), or raise "
         "the batch size.";
}

// " 92 % of them begin in `smooth` (Smoothing), forward or backward."; "" where no module itself,
// by its own operators, launches most.
std::string ModuleOfLaunches(const RunMeasures& run) {
  const ModuleOfKernels module = FindModuleOfKernels(run, [](size_t) { return 1; });
  if (module.path.IsNone()) return "";
  return " " + PercentOf(module.share) + " of them begin in " + module.Text(*run.store) +
         ", forward or backward.";
}

// What recording may add is taken off the gain; that is an upper end, unless it was measured.
std::string LeftOutText(const RunMeasures& run, double idle_ns) {
  const double left_out_ns = idle_ns - UnrecordedIdleNs(run);
  if (run.recording_cost.measured || UnrecordedIdleNs(run) >= idle_ns * kLaunchBoundGain) return "";
  return " Up to " + TimeOf(left_out_ns) +
         " of that may be what recording adds, and is left out of the gain (--control-steps "
         "measures it).";
}

// Waits for the GPU inside of a forward: for a number, or for how many rows there are.
struct WaitsInForward {
  double per_step = 0;
  std::string_view first;  // the operator of the first; "": none
};

WaitsInForward FindWaitsInForward(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  const Store& store = *run.store;
  const ModuleCallsTable& modules = store.module_calls;
  WaitsInForward found;
  if (main == nullptr || main->thread.IsNone() || main->steady.empty()) return found;
  if (modules.size() == 0) return found;
  const OperatorCallsTable& operators = store.operator_calls;
  const IntervalIndex in_operators(operators.thread, operators.start_ns, operators.end_ns);
  const IntervalIndex in_modules(modules.thread, modules.start_ns, modules.end_ns);
  const ToldPlans plans(run);
  uint64_t count = 0;
  for (const TimeSpan& wait : WaitsInSteadySteps(store, *main)) {
    if (in_modules.Innermost(main->thread, wait.start_ns) == kNoRow) continue;
    const uint32_t op = in_operators.Innermost(main->thread, wait.start_ns);
    if (op == kNoRow || plans.Has(operators.name[op])) continue;
    if (count++ == 0) found.first = store.Text(operators.name[op]);
  }
  found.per_step = double(count) / double(main->steady.size());
  return found;
}

// What to do about launches, where the step replays no graph yet.
std::string ActionOf(const RunMeasures& run, const WaitsInForward& waits) {
  const std::string fuse = IsCompiled(run) ? "" : "fuse operators with torch.compile, ";
  if (waits.per_step < kCallOfEveryStep) {
    return "Capture the step in a CUDA graph (torch.compile(model, mode=\"reduce-overhead\") or "
           "torch.cuda.make_graphed_callables), " +
           fuse + "or raise the batch size.";
  }
  return "A CUDA graph cannot hold what waits for the GPU: " + MeanCountText(waits.per_step) +
         (waits.per_step < 1.5 ? " call" : " calls") + " a step in forward, such as " +
         std::string(waits.first) +
         ". Take these out first: torch.where, index_add or scatter_reduce instead of rows that a "
         "mask chooses, no number of a tensor on the GPU as size or condition. Then capture the "
         "step (torch.compile(model, mode=\"reduce-overhead\")); meanwhile " +
         fuse + "or raise the batch size.";
}

std::vector<Evidence> PartsBeforeLaunch(const RunMeasures& run) {
  std::vector<Evidence> parts;
  for (size_t i = 0; i < kGpuPartCount; ++i) {
    const auto part = static_cast<GpuPart>(i);
    if (IsIdleBeforeLaunch(part) && GpuPartNs(run, part) > 0) parts.push_back(PartOf(run, part));
  }
  LargestFirst(parts);
  return parts;
}

}  // namespace

void LaunchBound(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->window.mean <= 0) return;
  if (!IsLaunchBound(run, *gpu)) return;
  const double idle_ns = LaunchableIdleNs(run);
  const double gain_ns = std::min(idle_ns * kLaunchBoundGain, UnrecordedIdleNs(run));
  const double graphs = GraphsPerStep(run);
  const bool replays = graphs >= kCallOfEveryStep;
  const WaitsInForward waits = replays ? WaitsInForward{} : FindWaitsInForward(run);
  findings->push_back(
      {.title = "Training is bound by launches, not by the GPU",
       .seen = "The GPU waits " + TimeOf(idle_ns) + " of every step (" +
               PercentOf(idle_ns / gpu->window.mean) + ") for the CPU to launch " +
               LaunchedText(run, graphs) + "." + ModuleOfLaunches(run) + LeftOutText(run, idle_ns),
       .why = replays && LaunchesGraphsAlone(run)
                  ? "A replay and what the loop does between two of them cost the CPU time, too; a "
                    "graph is over before the next is launched."
                  : "Each operator costs the CPU several microseconds in Python, PyTorch and the "
                    "driver; its kernels are over before the next is launched.",
       .action = replays ? ActionBesideGraphs(run, graphs) : ActionOf(run, waits),
       .gain_ns = gain_ns,
       .uncertainty_ns =
           std::max(idle_ns * kLaunchBoundUncertainty, idle_ns * kLaunchBoundGain - gain_ns),
       .evidence = PartsBeforeLaunch(run),
       .patch = replays || waits.per_step >= kCallOfEveryStep
                    ? Patch{}
                    : Patch{.place = "",
                            .diff = "-model = Model().cuda()\n"
                                    "+model = torch.compile(Model().cuda(), "
                                    "mode=\"reduce-overhead\")\n"}});
}

void SharedGpu(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->window.mean <= 0) return;
  const double away_ns = GpuPartNs(run, GpuPart::kIdleElsewhere);
  if (away_ns < kSharedGpu * gpu->window.mean) return;
  findings->push_back(
      {.title = "The GPU works for another process " + PercentOf(away_ns / gpu->window.mean) +
                " of a step",
       .seen = "For " + TimeOf(away_ns) +
               " of a step launched work waits and the GPU does none of it, in stretches of 0.1 ms "
               "and more.",
       .why = "Processes that share a GPU without MPS take turns on it; a stream that waits for a "
              "function on the CPU (cudaLaunchHostFunc) looks the same.",
       .action =
           "Look who else is on it: nvidia-smi lists the processes. End what was left behind, "
           "give each job a GPU of its own (CUDA_VISIBLE_DEVICES), or let them run at the "
           "same time under MPS.",
       .gain_ns = away_ns * kSharedGpuGain,
       .uncertainty_ns = away_ns * kSharedGpuUncertainty,
       .evidence = {PartOf(run, GpuPart::kIdleElsewhere)}});
}

void SmallKernels(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr || IsLaunchBound(run, *gpu)) return;  // the same said twice
  double count = 0;
  double time_ns = 0;
  Finding finding;
  for (const KernelRow& kernel : run.gpu.kernels) {
    if (!IsShort(kernel) || kernel.launches_per_step() <= 0) continue;
    count += kernel.launches_per_step();
    time_ns += kernel.average_ns() * kernel.launches_per_step();
    if (finding.evidence.size() < 5) {
      finding.evidence.push_back(KernelEvidence(*run.store, kernel));
    }
  }
  // Where the GPU is busy anyway, short kernels are hidden behind it.
  if (count < kSmallKernels || gpu->busy_share > kSmallKernelsBusy) return;
  const double idle_ns = std::max(0.0, UnrecordedIdleNs(run));
  const double part = count / std::max(1.0, LaunchesPerStep(run));
  finding.title = Rounded(count) + " kernels a step are shorter than their launch";
  finding.seen = Rounded(count) + " of " + Rounded(LaunchesPerStep(run)) + " kernels a step take " +
                 TimeOf(time_ns / std::max(1.0, count)) + " on average.";
  finding.why = "A launch costs the CPU about " +
                std::to_string(std::lround(kShortKernelNs / 1000)) +
                " microseconds, so that these cannot keep the GPU busy.";
  finding.action = std::string("Fuse them: ") + (IsCompiled(run) ? "" : "torch.compile(model), ") +
                   "fused or foreach optimizers, fused attention (scaled_dot_product_attention) "
                   "and norms.";
  finding.gain_ns = idle_ns * part * kSmallKernelsGain;
  if (!CanBeSeen(run, finding.gain_ns)) return;
  finding.uncertainty_ns = idle_ns * part * kSmallKernelsUncertainty;
  findings->push_back(std::move(finding));
}

namespace {

// A collective has few blocks by design: it waits for links, and leaves the SMs to others.
bool GrowsWithTheBatch(const KernelRow& kernel) {
  return kernel.kind.kind != KernelKind::kCommunication;
}

}  // namespace

void GridTooSmall(const RunMeasures& run, Findings* findings) {
  double small_ns = 0, total_ns = 0;
  Finding finding;
  for (const KernelRow& kernel : run.gpu.kernels) {
    total_ns += kernel.per_step_ns;
    if (!HasSmallGrid(kernel) || !GrowsWithTheBatch(kernel)) continue;
    if (IsShort(kernel)) continue;  // launch overhead is their problem
    small_ns += kernel.per_step_ns;
    if (finding.evidence.size() < 5) {
      finding.evidence.push_back(KernelEvidence(*run.store, kernel));
    }
  }
  if (total_ns == 0) return;
  const double share = small_ns / total_ns;
  if (share < kSmallGrids) return;
  finding.title = "Kernels are too small for the GPU";
  finding.seen = PercentOf(share) + " of kernel time runs on fewer blocks than the GPU has SMs.";
  finding.why = "The rest of the GPU is idle meanwhile.";
  finding.action = "Raise the batch size, or run independent work on several streams.";
  finding.kind = FindingKind::kSymptom;
  findings->push_back(std::move(finding));
}

}  // namespace batchlight::advice
