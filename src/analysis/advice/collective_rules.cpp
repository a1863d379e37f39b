// Collectives that the loop starts itself, one for each tensor.
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

struct OwnSums {
  uint64_t count = 0;
  int64_t ns = 0;  // from the first in a row to the end of the last, waiting and dividing too
};

struct Start {
  int64_t ns = 0;
  bool is_backward = false;
};

// When the main thread calls a module, goes backward, steps.
std::vector<Start> StartsOfWork(const RunMeasures& run, ThreadId thread) {
  std::vector<Start> starts;
  const ModuleCallsTable& modules = run.store->module_calls;
  const ThreadSpans::Rows calls = ThreadSpans(modules.thread).Of(thread);
  for (uint32_t row = calls.begin; row < calls.end; ++row)
    starts.push_back({modules.start_ns[row]});
  const PhaseCallsTable& phases = run.store->phase_calls;
  const ThreadSpans::Rows rows = ThreadSpans(phases.thread).Of(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const Phase phase = phases.phase[row];
    if (phase == Phase::kBackward || phase == Phase::kOptimizerStep) {
      starts.push_back({phases.start_ns[row], phase == Phase::kBackward});
    }
  }
  std::stable_sort(starts.begin(), starts.end(),
                   [](const Start& a, const Start& b) { return a.ns < b.ns; });
  return starts;
}

// What the main thread sums up over ranks itself between a backward and whatever it does next. Not
// what backward does (DistributedDataParallel's buckets, on the CPU by the same thread), nor a
// forward (tensors that ranks share), nor an optimizer.
OwnSums SumsInSteps(const RunMeasures& run, const ProcessSteps& main) {
  const OperatorCallsTable& operators = run.store->operator_calls;
  const PhaseCallsTable& phases = run.store->phase_calls;
  const std::vector<Start> starts = StartsOfWork(run, main.thread);
  const ThreadSpans::Rows calls = ThreadSpans(operators.thread).Of(main.thread);
  const ThreadSpans::Rows of_phases = ThreadSpans(phases.thread).Of(main.thread);
  StepLookup lookup(&main);
  uint32_t phase = of_phases.begin;
  size_t next = 0;  // of the starts: the first behind the sum
  int64_t backward_until_ns = 0, last_end_ns = 0;
  OwnSums sums;
  for (uint32_t row = calls.begin; row < calls.end; ++row) {
    if (run.store->Text(operators.name[row]) != "c10d::allreduce_") continue;
    const int64_t start_ns = operators.start_ns[row], end_ns = operators.end_ns[row];
    for (; phase < of_phases.end && phases.start_ns[phase] <= start_ns; ++phase) {
      if (phases.phase[phase] != Phase::kBackward) continue;
      backward_until_ns = std::max(backward_until_ns, phases.end_ns[phase]);
    }
    while (next < starts.size() && starts[next].ns <= start_ns) ++next;
    if (next == 0 || !starts[next - 1].is_backward || start_ns < backward_until_ns) continue;
    if (end_ns == kOpenEnd || start_ns < last_end_ns || !lookup.IsSteadyAt(start_ns)) continue;
    ++sums.count;
    const bool goes_on = last_end_ns > starts[next - 1].ns;
    sums.ns += end_ns - (goes_on ? last_end_ns : start_ns);
    last_end_ns = end_ns;
  }
  return sums;
}

}  // namespace

void SmallCollectives(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->thread.IsNone() || main->steady.empty() || step_ns <= 0) return;
  const OwnSums sums = SumsInSteps(run, *main);
  const auto steps = double(main->steady.size());
  const double count = double(sums.count) / steps, sum_ns = double(sums.ns) / steps;
  if (count < kSmallCollectives || sum_ns < kOwnSums * step_ns) return;
  const double exposed_ns = sum_ns * CpuExposure(run);
  const double gain_ns = exposed_ns * kSmallCollectivesGain;
  if (!CanBeSeen(run, gain_ns)) return;
  findings->push_back(
      {.title = "Ranks sum up tensor by tensor: " + Rounded(count) + " all-reduces a step",
       .seen = "The loop itself starts " + Rounded(count) +
               " all-reduces a step, one behind the other; from the first to the last it is " +
               TimeOf(sum_ns) + " (" + PercentOf(sum_ns / step_ns) + ").",
       .why =
           "Each costs a launch and a message of its own, whatever its size, and none runs while "
           "backward computes.",
       .action = "Wrap the model in DistributedDataParallel, which sums up in buckets beside "
                 "backward; or put all gradients into one tensor and reduce that "
                 "(torch.cat, or torch._utils._flatten_dense_tensors).",
       .gain_ns = gain_ns,
       .uncertainty_ns = exposed_ns * kSmallCollectivesUncertainty,
       .evidence = {{.kind = "operator",
                     .name = "c10d::allreduce_",
                     .count = static_cast<uint64_t>(count),
                     .per_step_ns = sum_ns}},
       .patch = {.place = "",
                 .diff = "-for p in model.parameters():\n"
                         "-    dist.all_reduce(p.grad)\n"
                         "-    p.grad /= dist.get_world_size()\n"
                         "+model = torch.nn.parallel.DistributedDataParallel(model)\n"}});
}

}  // namespace batchlight::advice
