#include "ingest/recording/gpu_metrics.h"

#include <algorithm>
#include <vector>

namespace batchlight {

void UniteGpuMetrics(Store& store) {
  const GpuMetricsTable all = std::move(store.gpu_metrics);
  store.gpu_metrics = GpuMetricsTable();
  std::vector<GpuMetricsRow> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    const GpuMetricsRow row = all.Row(i);
    if (std::find(kept.begin(), kept.end(), row) != kept.end()) continue;
    kept.push_back(row);
    store.gpu_metrics.Append(row);
  }
}

}  // namespace batchlight
