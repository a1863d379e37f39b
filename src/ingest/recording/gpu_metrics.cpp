#include "ingest/recording/gpu_metrics.h"

#include <cstdint>
#include <set>
#include <tuple>

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

}  // namespace batchlight
