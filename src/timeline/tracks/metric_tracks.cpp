// Metrics of GPUs over time, one strip each.
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "analysis/counters/gpu_metric_parts.h"
#include "analysis/counters/metrics.h"
#include "timeline/tracks/derived_tracks.h"

namespace batchlight::timeline {
namespace {

// A process on the GPU of that UUID, whose tracks the strips stand beside; None: none is known.
ProcessId ProcessOn(const Store& store, uint32_t device) {
  const GpuContextsTable& contexts = store.gpu_contexts;
  for (size_t row = 0; row < contexts.size(); ++row) {
    if (contexts.device[row] == device) return contexts.process[row];
  }
  return ProcessId::None();
}

// A sample holds for as long as the one before it did.
void EndAfterLast(CounterRow& row) {
  if (row.size() < 2) return;
  const int64_t last_ns = row.time_ns(row.size() - 1);
  row.Add(2 * last_ns - row.time_ns(row.size() - 2), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

void AddMetricTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  const Store& store = timeline.store();
  const GpuMetricsTable& metrics = store.gpu_metrics;
  std::map<std::pair<uint32_t, StringId>, std::shared_ptr<CounterRow>> rows;
  const GpuMetricSamplesTable& samples = store.gpu_metric_samples;
  for (size_t row = 0; row < samples.size(); ++row) {
    std::shared_ptr<CounterRow>& series = rows[{samples.device[row], samples.metric[row]}];
    if (series == nullptr) series = std::make_shared<CounterRow>();
    series->Add(samples.start_ns[row], samples.value[row]);
  }
  for (size_t metric = 0; metric < metrics.size(); ++metric) {
    const auto series = rows.find({metrics.device[metric], metrics.metric[metric]});
    if (series == rows.end()) continue;
    const uint32_t device = CudaDeviceOf(store, metric);
    const std::string_view name = store.Text(metrics.metric[metric]);
    const CounterMetric* const known = FindCounterMetric(name);
    std::string title(known != nullptr ? known->title : name);
    const std::string_view unit = store.Text(metrics.unit[metric]);
    if (!unit.empty()) title += ", " + std::string(unit);
    plans.push_back({.process = ProcessOn(store, device),
                     .device = int64_t{device},
                     .track = {.kind = TrackKind::kMemory,
                               .title = title,
                               .open = false,
                               .series_titles = {title}},
                     .fill = [row = series->second](Track& track) {
                       EndAfterLast(*row);
                       row->Summarize();
                       track.series.push_back(std::move(*row));
                     }});
    rows.erase(series);
  }
}

}  // namespace batchlight::timeline
