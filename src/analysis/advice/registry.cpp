#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "analysis/advice/order.h"
#include "analysis/advice/rules.h"
#include "analysis/run/step_rate.h"
#include "analysis/steps/loop_span.h"

namespace batchlight {
namespace {

// Rules that shorten the same time: after one of them, another has less left to gain, or nothing.
using RuleGroup = std::array<std::string_view, 11>;
constexpr RuleGroup kSameTime[] = {
    {"tf32-off", "amp-off"},                                 // matrix products in FP32
    {"channels-last", "unfused-pointwise"},                  // norms
    {"repeated-copies", "pageable-copy", "exposed-copies"},  // copies that nothing hides
    {"dataloader-wait", "straggler"},                        // the DataLoader's next
    {"loader-iterators", "python-work"},                     // a sampler that is thrown away
    {"python-work", "straggler"},                            // what one rank does beside the others
    {"exposed-communication", "straggler", "pipeline-bubble", "sync-each-micro-batch"},
    {"dataloader-restart", "between-epochs", "validation-cost"},  // what lies beside the steps
    {"between-epochs", "python-work"},                            // in some steps' first part
    {"deep-copies", "python-work", "unfused-updates", "slow-function", "garbage-collection"},
    {"small-operators", "masked-loop", "slow-function", "cells-in-a-loop"},  // a loop in forward
    {"masked-loop", "launch-bound", "host-sync", "small-kernels", "anomaly-detection"},
    {"small-operators", "launch-bound"},
    {"small-operators", "host-sync"},
    {"small-operators", "small-kernels"},
    {"small-operators", "unfused-pointwise"},
    {"work-beside-the-model", "slow-function"},  // a function of the loop's
    {"cpu-tensors", "unfused-updates", "slow-function", "gpu-held-back"},  // on the CPU
    // Operators of forward, whoever calls them.
    {"broadcast-distances", "slow-function", "work-beside-the-model", "frozen-forward",
     "unfused-pointwise"},
    {"ignored-targets", "padding", "padding-to-one-length"},  // positions of no use
    {"dense-embedding-gradients", "unfused-optimizer-cpu", "unfused-optimizer",
     "optimizer-groups"},  // the optimizer
    {"repeated-backward", "launch-bound", "unfused-pointwise", "unused-gradients",
     "unheld-gradients", "gradient-penalty"},  // backward
    // Samples that the model makes.
    {"generation-without-cache", "rollout-of-one", "rollout-work", "validation-cost",
     "work-without-gradient", "frozen-forward", "unfused-pointwise"},
    {"repeated-forward", "unused-forward", "unlearned-work",
     "frozen-forward"},                                // calls of one model
    {"set-up-cost", "preprocessing-cost"},             // before the first step
    {"cpu-limit", "cpu-taken", "cpu-oversubscribed"},  // waiting for a processor
    // The GPU's wait for launches.
    {"launch-bound", "small-kernels", "unfused-optimizer", "optimizer-groups", "unfused-updates",
     "python-work", "host-sync", "launch-blocking", "anomaly-detection", "slow-function",
     "gpu-held-back"},
};

// What one rule tells several times is of different times.
bool GainSameTime(std::string_view a, std::string_view b) {
  return a != b &&
         std::any_of(std::begin(kSameTime), std::end(kSameTime), [&](const RuleGroup& group) {
           return std::find(group.begin(), group.end(), a) != group.end() &&
                  std::find(group.begin(), group.end(), b) != group.end();
         });
}

}  // namespace

void advice::NameSharedGains(std::vector<Finding>* findings) {
  for (auto later = findings->begin(); later != findings->end(); ++later) {
    if (!later->has_gain()) continue;
    for (auto earlier = findings->begin(); earlier != later; ++earlier) {
      if (!earlier->has_gain() || !GainSameTime(earlier->rule, later->rule)) continue;
      later->same_time_as.push_back(earlier->rule);
    }
  }
}

const std::vector<AdviceRule>& AdviceRules() {
  static const std::vector<AdviceRule> rules = {
#define RULE(id, function, sentence, fires_when, estimate) \
  {id, advice::FillThresholds(sentence), advice::function},
#include "analysis/advice/rules.def"
#undef RULE
  };
  return rules;
}

namespace {

// Rules about time in which the GPU idles: the work that it does stays.
constexpr std::string_view kOfIdleGpu[] = {"launch-bound", "host-sync",   "launch-blocking",
                                           "python-work",  "cpu-tensors", "dataloader-wait"};

// How much longer a step takes than the CPU is in it, where it runs ahead of the GPU.
double GpuPace(const RunMeasures& run) {
  const StepRate rate = RateOfSteps(run, 0);
  const double step_ns = advice::MeanStepNs(run);
  return rate.of_gpu && step_ns > 0 ? std::max(1.0, rate.mean_period_ns / step_ns) : 1;
}

// What a finding may save of the mean step at most. The GPU's stretches of steps can be longer than
// the steps themselves (hardware counters are read between them), and what idles there is no
// step's.
double MostOfStepNs(const RunMeasures& run, std::string_view rule) {
  const double step_ns = advice::MeanStepNs(run) * GpuPace(run);
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  const double most_ns = step_ns * advice::kMostOfARun;
  const bool idles =
      std::find(std::begin(kOfIdleGpu), std::end(kOfIdleGpu), rule) != std::end(kOfIdleGpu);
  if (!idles || gpu == nullptr) return most_ns;
  return std::clamp(step_ns - gpu->busy_share * gpu->window.mean, 0.0, most_ns);
}

// Of a step: what is cut to less is not told.
constexpr double kLeastLeft = 0.05;

// Whether something worth telling is left of the finding.
bool KeepWithinStep(const RunMeasures& run, Finding& finding) {
  const double most_ns = MostOfStepNs(run, finding.rule);
  if (advice::MeanStepNs(run) <= 0 || finding.gain_ns <= most_ns) return true;
  finding.uncertainty_ns = std::min(finding.uncertainty_ns, most_ns);
  finding.gain_ns = most_ns;
  return finding.run_gain_ns > 0 || most_ns >= kLeastLeft * advice::MeanStepNs(run);
}

double ShareOf(double gain_ns, double all_ns) {
  return all_ns > 0 ? std::min(1.0, gain_ns / all_ns) : 0;
}

}  // namespace

std::vector<Finding> FindAdvice(const RunMeasures& run) {
  std::vector<Finding> findings;
  for (const AdviceRule& rule : AdviceRules()) {
    const size_t before = findings.size();
    rule.find(run, &findings);
    for (size_t i = before; i < findings.size(); ++i) findings[i].rule = rule.id;
  }
  const ProcessSteps* main = run.steps.Main();
  const double steps = main == nullptr ? 0 : double(main->steps.size());
  const double pace = GpuPace(run);
  const double wall_ns = advice::RunWallNs(run), step_ns = advice::MeanStepNs(run) * pace;
  std::erase_if(findings, [&](Finding& finding) { return !KeepWithinStep(run, finding); });
  const LoopSpan loop = main == nullptr ? LoopSpan() : SpanOfLoop(main->steps);
  for (Finding& finding : findings) {
    if (finding.kind == FindingKind::kSymptom) finding.gain_ns = finding.uncertainty_ns = 0;
    const double both_ns = finding.gain_ns * steps + finding.run_gain_ns;
    finding.step_share = ShareOf(finding.gain_ns, step_ns);
    finding.run_share = ShareOf(both_ns, wall_ns);
    if (finding.kind == FindingKind::kCause) {
      finding.loop_share =
          ShareOf(finding.gain_ns * double(loop.settled_steps) + finding.run_gain_ns,
                  std::max(loop.settled_ns(), double(loop.settled_steps) * step_ns));
    }
  }
  advice::PutInOrder(&findings);
  advice::NameSharedGains(&findings);
  advice::PointAtCause(run, &findings);
  return findings;
}

CombinedGain GainTogether(std::span<const Finding> findings) {
  CombinedGain run, step{.of_step = true}, loop{.of_loop = true};
  std::vector<std::string_view> counted;
  for (const Finding& finding : findings) {
    const bool is_counted = std::any_of(
        finding.same_time_as.begin(), finding.same_time_as.end(), [&](std::string_view rule) {
          return std::find(counted.begin(), counted.end(), rule) != counted.end();
        });
    // A quiet machine shortens everything else as well: what that gains adds up with nothing.
    if (is_counted || !finding.has_gain() || finding.kind == FindingKind::kMachine) continue;
    counted.push_back(finding.rule);
    run.share += finding.run_share;
    step.share += finding.step_share;
    loop.share += finding.loop_share;
    step.of_step = step.of_step && finding.run_gain_ns == 0;
    loop.of_loop = loop.of_loop && finding.loop_share > 0;
  }
  if (counted.size() < 2) return {};
  CombinedGain& gain = step.of_step ? step : loop.of_loop ? loop : run;
  // Each is charged for time of its own; more than all but a twentieth no run was seen to lose.
  gain.share = std::min(gain.share, advice::kMostOfARun);
  return gain;
}

namespace advice {

double RunWallNs(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  const Store& store = *run.store;
  if (main == nullptr || main->process.IsNone()) return double(store.duration_ns);
  const int64_t start_ns = store.processes.start_ns[main->process.row()];
  const int64_t end_ns = store.processes.end_ns[main->process.row()];
  const int64_t last_ns = std::max(end_ns == kOpenEnd ? store.duration_ns : end_ns,
                                   main->steps.empty() ? 0 : main->steps.back().end_ns);
  return double(last_ns - start_ns);
}

double MeanStepNs(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  return main == nullptr ? 0 : main->duration.mean;
}

bool CanBeSeen(const RunMeasures& run, double gain_ns) {
  return gain_ns >= kVisibleGain * MeanStepNs(run);
}

double GpuShare(const RunMeasures& run, GpuPart part) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  return gpu == nullptr ? 0 : gpu->share[static_cast<size_t>(part)];
}

double GpuPartNs(const RunMeasures& run, GpuPart part) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  return gpu == nullptr ? 0 : gpu->steady[static_cast<size_t>(part)].mean;
}

double OutsideIdleNs(const RunMeasures& run) {
  return SumOfParts(IsIdleOutside, [&](GpuPart part) { return GpuPartNs(run, part); });
}

double BackwardWaitNs(const RunMeasures& run) {
  const double operators_ns =
      GpuPartNs(run, GpuPart::kIdleOperators) + GpuPartNs(run, GpuPart::kIdleLaunch);
  return std::max(0.0, GpuPartNs(run, GpuPart::kIdleAutograd) - operators_ns);
}

double LaunchIdleNs(const RunMeasures& run) {
  return SumOfParts(IsIdleBeforeLaunch, [&](GpuPart part) { return GpuPartNs(run, part); }) -
         BackwardWaitNs(run);
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

double NumberProperty(const RunMeasures& run, std::string_view key) {
  const std::string text(TrainingProperty(run, key));
  return text.empty() ? 0 : std::strtod(text.c_str(), nullptr);
}

bool HasPyTorch(const RunMeasures& run, long major, long minor) {
  const std::string version(TrainingProperty(run, "torch.version"));
  char* rest = nullptr;
  const long found = std::strtol(version.c_str(), &rest, 10);
  if (found != major || *rest != '.') return found > major;
  return std::strtol(rest + 1, nullptr, 10) >= minor;
}

int UsableProcessors(const RunMeasures& run) {
  const double usable = NumberProperty(run, "machine.usable_cores");
  return static_cast<int>(usable > 0 ? usable : NumberProperty(run, "machine.cores"));
}

std::string RecordedPlace(const RunMeasures& run, std::string_view key) {
  return std::string(TrainingProperty(run, key));
}

const ModuleRow* ModuleOf(const RunMeasures& run, std::string_view path) {
  const auto found = std::find_if(run.modules.rows.begin(), run.modules.rows.end(),
                                  [&](const ModuleRow& row) { return row.path == path; });
  return found == run.modules.rows.end() ? nullptr : &*found;
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
         std::any_of(kernels.begin(), kernels.end(),
                     [](const KernelRow& row) { return row.kind.compiled; });
}

LoopOwner OwnerOfLoop(const RunMeasures& run) {
  const PhaseCallsTable& calls = run.store->phase_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.phase[row] != Phase::kImport) continue;
    const std::string_view module = run.store->Text(calls.name[row]);
    if (module == "transformers.trainer") return LoopOwner::kTransformers;
    if (module == "lightning.pytorch.trainer.trainer" ||
        module == "pytorch_lightning.trainer.trainer") {
      return LoopOwner::kLightning;
    }
  }
  return LoopOwner::kProgram;
}

double CpuExposure(const RunMeasures& run) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  return gpu == nullptr ? 1 : 1 - gpu->busy_share;
}

}  // namespace advice
}  // namespace batchlight
