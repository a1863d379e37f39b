#include "analysis/counters/gpu_samples.h"

#include <algorithm>
#include <map>

#include "analysis/steps/step_lookup.h"

namespace batchlight {

std::vector<GpuMetricSum> SumGpuMetrics(const Store& store, const StepSet& steps) {
  std::vector<GpuMetricSum> sums;
  std::map<std::pair<uint32_t, StringId>, size_t> places;
  const GpuMetricsTable& metrics = store.gpu_metrics;
  for (size_t row = 0; row < metrics.size(); ++row) {
    const bool added =
        places.try_emplace({metrics.device[row], metrics.metric[row]}, sums.size()).second;
    if (!added) continue;
    sums.push_back({.device = metrics.device[row],
                    .metric = metrics.metric[row],
                    .unit = metrics.unit[row],
                    .source = metrics.source[row]});
  }
  StepLookup lookup(steps.Main());
  const GpuMetricSamplesTable& samples = store.gpu_metric_samples;
  for (size_t row = 0; row < samples.size(); ++row) {
    const auto place = places.find({samples.device[row], samples.metric[row]});
    if (place == places.end()) continue;
    GpuMetricSum& sum = sums[place->second];
    const double value = samples.value[row];
    if (sum.samples == 0) sum.least = sum.most = value;
    ++sum.samples;
    sum.mean += (value - sum.mean) / double(sum.samples);
    sum.least = std::min(sum.least, value);
    sum.most = std::max(sum.most, value);
    if (!lookup.IsSteadyAt(samples.start_ns[row])) continue;
    ++sum.step_samples;
    sum.step_mean += (value - sum.step_mean) / double(sum.step_samples);
  }
  std::erase_if(sums, [](const GpuMetricSum& sum) { return sum.samples == 0; });
  return sums;
}

}  // namespace batchlight
