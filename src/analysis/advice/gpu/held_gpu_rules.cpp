// A function of the program's own that leaves the GPU without work (breakdown/beside_model.h).
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/processor_wait.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"

namespace batchlight::advice {
namespace {

// One who sleeps, or waits for a lock, a file or the network, has advice of its own (python-work).
bool Sleeps(const RunMeasures& run, const HoldingFunction& held) {
  if (held.awake_ns <= 0) return false;  // not recorded
  const double own_ns = held.cpu_ns - held.wait_ns;
  const double processor_wait = held.ready_ns > 0 ? 0 : ProcessorWait(run);
  const double ran_ns = held.awake_ns - held.ready_ns;
  return ran_ns < kPythonWaits * ((1 - processor_wait) * own_ns - held.ready_ns);
}

struct Means {
  std::string_view name;
  double ns = 0;
};

// By what the function holds the GPU back, by falling time.
std::vector<Means> MeansOf(const HoldingFunction& held) {
  double python_ns = 0;
  std::vector<Means> means = {{"its copies", held.copy_ns}, {"short kernels", held.launch_ns}};
  for (size_t i = 0; i < kGpuPartCount; ++i) {
    const auto part = static_cast<GpuPart>(i);
    if (IsIdleInPython(part) || part == GpuPart::kIdleAutograd) {
      python_ns += held.idle_ns[i];
    } else if (held.idle_ns[i] > 0) {
      means.push_back({IdleCause(part), held.idle_ns[i]});
    }
  }
  means.push_back({IdleCause(GpuPart::kIdlePython), python_ns});
  std::stable_sort(means.begin(), means.end(),
                   [](const Means& a, const Means& b) { return a.ns > b.ns; });
  std::erase_if(means, [&](const Means& one) { return one.ns < kHeldNamed * held.HeldNs(); });
  return means;
}

std::string TextOf(const std::vector<Means>& means) {
  std::string text;
  for (const Means& one : means) {
    text += (text.empty() ? "" : ", ") + std::string(one.name) + ' ' + TimeOf(one.ns);
  }
  return text;
}

// " Much of that is in `draw` (train.py:42), `_quantile` of numpy.": functions that it calls, the
// program's own and packages'. "": it does most of it itself.
std::string TextOfInside(const Store& store, const HoldingFunction& held) {
  std::string text;
  for (const SampledFunction& inner : held.inside.functions) {
    if (double(inner.ns) < kHeldInside * double(held.inside.all_ns)) break;
    if (inner.file == held.function.file && inner.function == held.function.function) continue;
    text = FunctionText(store, inner);
    break;
  }
  const std::string called = CalledText(store, held.inside);
  if (!called.empty()) text += (text.empty() ? "" : ", ") + called;
  return text.empty() ? "" : " Much of that is in " + text + ".";
}

}  // namespace

const HoldingFunction* HolderOfGpu(const RunMeasures& run) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  const HoldingFunction& held = run.loop_work.beside.most;
  if (gpu == nullptr || gpu->window.mean <= 0 || held.cpu_ns <= 0) return nullptr;
  if (held.HeldNs() < kHeldGpu * gpu->window.mean) return nullptr;
  // One that only copies has advice of its own, too.
  if (held.AllIdleNs() < kHeldIdle * gpu->window.mean) return nullptr;
  return Sleeps(run, held) ? nullptr : &held;
}

double HeldIdleNs(const RunMeasures& run, GpuPart part) {
  const HoldingFunction* held = HolderOfGpu(run);
  return held == nullptr ? 0 : held->idle_ns[static_cast<size_t>(part)];
}

double HeldOutsideIdleNs(const RunMeasures& run) {
  return SumOfParts(IsIdleOutside, [&](GpuPart part) { return HeldIdleNs(run, part); });
}

void FunctionHoldsGpu(const RunMeasures& run, Findings* findings) {
  const HoldingFunction* held = HolderOfGpu(run);
  if (held == nullptr) return;
  const BesideModel& beside = run.loop_work.beside;
  const Store& store = *run.store;
  double gpu_ns = held->HeldNs();
  // Where nothing else makes it wait, the loop then runs ahead of the GPU, which also idles no
  // longer for the launches behind the function. A few of the function's waits are taken for
  // others', as samples do not show its edges.
  if (beside.other_waits - kHeldEdges * held->waits < kCallOfEveryStep) {
    gpu_ns += std::max(0.0, LaunchIdleNs(run) - held->LaunchIdleNs());
  }
  const double freed_ns =
      std::min(gpu_ns, held->cpu_ns + beside.other_wait_ns + LikelyRecordingNs(run));
  const std::string name = FunctionText(store, held->function);
  const std::vector<Means> means = MeansOf(*held);
  const std::string share = PercentOf(held->HeldNs() / run.gpu.MainBreakdown()->window.mean);
  Finding finding{
      .title = name + " leaves the GPU without other work for " + share + " of a step",
      .seen = "For " + TimeOf(held->HeldNs()) + " of a step (" + share +
              ") the GPU has nothing else to do while the loop is in " + name + ": " +
              TextOf(means) + "." + TextOfInside(store, *held),
      .why =
          "The loop launches nothing behind it before it is through, and the GPU has run dry by "
          "then.",
      .action =
          "Take it out of the step as a whole: without its copies or waits alone the rest stays. "
          "Do it on the GPU with operators on whole tensors and without .item(), .cpu() or loops "
          "over values (averages of weights: torch._foreach_lerp_; metrics: torch.bincount); move "
          "what prepares a batch into the DataLoader's workers; or do it every N steps.",
      .gain_ns = freed_ns * kHeldGpuGain,
      .uncertainty_ns = freed_ns * kHeldGpuUncertainty};
  finding.evidence.push_back({.kind = "function",
                              .name = name,
                              .per_step_ns = held->cpu_ns,
                              .event = EventOfFunction(held->function.function),
                              .longest = held->function.longest});
  for (const Means& one : means) {
    finding.evidence.push_back(
        {.kind = "part", .name = std::string(one.name), .per_step_ns = one.ns});
  }
  findings->push_back(std::move(finding));
}

}  // namespace batchlight::advice
