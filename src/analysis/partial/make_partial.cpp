#include <algorithm>
#include <map>
#include <utility>

#include "analysis/breakdown/step_breakdown.h"
#include "analysis/cuda/kernel_class.h"
#include "analysis/numbers/quantile.h"
#include "analysis/partial/kept_own_times.h"
#include "analysis/partial/rank_partial.h"
#include "analysis/ranks/nccl_calls.h"
#include "analysis/run/losses.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {
namespace {

constexpr size_t kMostKernels = 200;

std::vector<KernelTimes> KernelsOf(const Store& store, ProcessId process) {
  std::map<StringId, std::vector<int64_t>> lengths;
  const KernelsTable& kernels = store.kernels;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (kernels.process[row] != process || kernels.end_ns[row] == kOpenEnd) continue;
    lengths[kernels.short_name[row]].push_back(kernels.end_ns[row] - kernels.start_ns[row]);
  }
  std::vector<KernelTimes> times;
  for (auto& [name, all] : lengths) {
    if (IsNcclKernel(store.Text(name))) continue;
    KernelTimes& kernel = times.emplace_back();
    kernel.name = store.Text(name);
    kernel.count = all.size();
    for (const int64_t ns : all) kernel.total_ns += ns;
    kernel.median_ns = LowerQuantile(all, 0.5);
  }
  std::stable_sort(times.begin(), times.end(),
                   [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  if (times.size() > kMostKernels) times.resize(kMostKernels);
  return times;
}

}  // namespace

JobPart MakeJobPart(const std::string& label, const Store& store) {
  const StepInputs inputs(store);
  const StepSet steps = FindSteps(inputs, {});
  return MakeJobPart(label, store, steps, BreakDownSteps(inputs, steps));
}

JobPart MakeJobPart(const std::string& label, const Store& store, const StepSet& steps,
                    const std::vector<StepBreakdown>& breakdowns) {
  JobPart part{.identity = IdentifyInput(label, store), .clock = HostClockOf(store), .ranks = {}};
  for (const LossWarning& loss : FindLosses(store)) {
    if (loss.severity == LossSeverity::kDataLoss) part.losses += loss.value;
  }
  const std::vector<RankOwnTimes> own = MeasureOwnTimes(store, steps);
  std::vector<RankPace> paces = MeasurePaces(store, steps, breakdowns);
  std::vector<RankCalls> calls = CollectRankCalls(store, FindNcclCalls(store), steps);
  for (size_t i = 0; i < steps.processes.size(); ++i) {
    const ProcessSteps& process = steps.processes[i];
    RankPartial& rank = part.ranks.emplace_back();
    rank.rank = process.rank;
    rank.pid = store.processes.pid[process.process.row()];
    rank.host = store.Property("machine.hostname", process.process);
    rank.steady = process.steady;
    for (const Step& step : process.steps) {
      rank.step_ns.push_back(step.duration_ns());
      rank.step_number.push_back(step.number);
    }
    rank.phases = PhaseTimesOf(breakdowns[i].phases);
    rank.pace = std::move(paces[i]);
    rank.kernels = KernelsOf(store, process.process);
    rank.calls = std::move(calls[process.process.row()]);
    rank.condition = ConditionOf(store, process);
    rank.own_times = PackOwnTimes(own[i]);
  }
  return part;
}

}  // namespace batchlight
