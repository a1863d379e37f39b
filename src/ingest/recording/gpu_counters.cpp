#include "ingest/recording/gpu_counters.h"

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "store/counter_sets.h"

namespace batchlight {

void UniteGpuMetrics(Store& store) {
  const GpuMetricsTable all = std::move(store.gpu_metrics);
  store.gpu_metrics = GpuMetricsTable();
  // All columns.
  std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, GpuMetricSource, int64_t>> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    const GpuMetricsRow row = all.Row(i);
    const bool is_new = kept.emplace(row.device, row.uuid.value, row.metric.value, row.unit.value,
                                     row.source, row.interval_ns)
                            .second;
    if (is_new) store.gpu_metrics.Append(row);
  }
}

namespace {

// By process and range.
std::map<std::pair<ProcessId, uint32_t>, int64_t> TimesOf(const Store& store) {
  std::map<std::pair<ProcessId, uint32_t>, int64_t> times;
  const CounterValuesTable& values = store.counter_values;
  for (size_t row = 0; row < values.size(); ++row) {
    const double ns = values.value[row];
    if (store.Text(values.metric[row]) != kGpuTimeMetric || !(ns >= 0 && ns < 1e15)) continue;
    times[{values.process[row], values.range[row]}] = static_cast<int64_t>(ns);
  }
  return times;
}

}  // namespace

void TimeReplayedKernels(Store& store) {
  const CounterRangesTable& ranges = store.counter_ranges;
  std::vector<size_t> replayed;
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (store.Text(ranges.counter_set[row]).starts_with(kReplayedSet)) replayed.push_back(row);
  }
  if (replayed.empty()) return;
  const auto times = TimesOf(store);
  KernelsTable& kernels = store.kernels;
  for (size_t kernel = 0; kernel < kernels.size(); ++kernel) {
    const int64_t start_ns = kernels.start_ns[kernel];
    if (kernels.end_ns[kernel] != start_ns) continue;
    for (const size_t row : replayed) {
      if (kernels.process[kernel] != ranges.process[row] || start_ns < ranges.start_ns[row] ||
          start_ns >= ranges.end_ns[row]) {
        continue;
      }
      const auto time = times.find({ranges.process[row], ranges.range[row]});
      if (time == times.end()) continue;
      kernels.end_ns[kernel] = start_ns + time->second;
      break;
    }
  }
}

}  // namespace batchlight
