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
#define RULE(id, function, sentence, fires_when, estimate) \
  {id, advice::FillThresholds(sentence), advice::function},
#include "analysis/advice/rules.def"
#undef RULE
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
         std::any_of(kernels.begin(), kernels.end(),
                     [](const KernelRow& row) { return row.kind.compiled; });
}

double CpuExposure(const RunMeasures& run) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  return gpu == nullptr ? 1 : 1 - gpu->busy_share;
}

}  // namespace advice
}  // namespace batchlight
