#include "analysis/partial/rank_condition.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

std::vector<uint32_t> CollectedUs(const Store& store, const ProcessSteps& process) {
  std::vector<int64_t> of_step(process.steps.size());
  StepLookup steps(&process);
  bool any = false;
  const PhaseCallsTable& calls = store.phase_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.phase[row] != Phase::kGarbageCollection || calls.thread[row] != process.thread ||
        calls.end_ns[row] == kOpenEnd) {
      continue;
    }
    const size_t step = steps.RowAt(calls.start_ns[row]);
    if (step == StepLookup::kNone) continue;
    of_step[step] += calls.end_ns[row] - calls.start_ns[row];
    any = true;
  }
  std::vector<uint32_t> us;
  if (!any) return us;
  for (const int64_t ns : of_step) {
    us.push_back(static_cast<uint32_t>(std::clamp<int64_t>((ns + 500) / 1000, 0, UINT32_MAX)));
  }
  return us;
}

// On which the kernels of the process take longest.
std::optional<uint32_t> MainDevice(const Store& store, ProcessId process) {
  std::map<uint32_t, int64_t> ns;
  const KernelsTable& kernels = store.kernels;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (kernels.process[row] != process || kernels.end_ns[row] == kOpenEnd) continue;
    ns[kernels.device[row]] += kernels.end_ns[row] - kernels.start_ns[row];
  }
  const auto most = std::max_element(
      ns.begin(), ns.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == ns.end() ? std::nullopt : std::optional<uint32_t>(most->first);
}

// The number that NVML has for a device of CUDA: an environment may number them otherwise.
uint32_t SampledDevice(const Store& store, uint32_t device) {
  StringId uuid;
  for (size_t row = 0; row < store.gpus.size(); ++row) {
    if (store.gpus.device[row] == device) uuid = store.gpus.uuid[row];
  }
  const GpuMetricsTable& metrics = store.gpu_metrics;
  for (size_t row = 0; row < metrics.size(); ++row) {
    if (!uuid.IsNone() && metrics.uuid[row] == uuid) return metrics.device[row];
  }
  return device;
}

class MeanInSteps {
 public:
  MeanInSteps(const Store& store, const ProcessSteps& process, uint32_t device)
      : store_(store), process_(process), device_(device) {}

  // -1: there is no sample.
  double Of(std::string_view metric) const {
    StepLookup steps(&process_);
    const GpuMetricSamplesTable& samples = store_.gpu_metric_samples;
    double sum = 0, count = 0;
    for (size_t row = 0; row < samples.size(); ++row) {
      if (samples.device[row] != device_ || store_.Text(samples.metric[row]) != metric ||
          !steps.IsSteadyAt(samples.start_ns[row])) {
        continue;
      }
      sum += samples.value[row];
      ++count;
    }
    return count > 0 ? sum / count : -1;
  }

 private:
  const Store& store_;
  const ProcessSteps& process_;
  const uint32_t device_;
};

double Share(double percent) { return percent < 0 ? -1 : percent / 100; }

}  // namespace

RankCondition ConditionOf(const Store& store, const ProcessSteps& process) {
  RankCondition found{.collected_us = CollectedUs(store, process)};
  if (store.gpu_metric_samples.size() == 0) return found;
  const std::optional<uint32_t> device = MainDevice(store, process.process);
  if (!device) return found;
  const MeanInSteps mean(store, process, SampledDevice(store, *device));
  found.clock_mhz = mean.Of("SM clock");
  found.held_by_power = Share(mean.Of("held back by power"));
  found.held_by_heat = Share(mean.Of("held back by heat"));
  return found;
}

}  // namespace batchlight
