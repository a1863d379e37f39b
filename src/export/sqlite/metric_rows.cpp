// Metrics of GPUs over time in an nsys export: whole numbers, as that table holds.
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "export/sqlite/nsys_rows.h"
#include "nsys/metric_tables.h"

namespace batchlight {
namespace {

// Values of damaged recordings may be anything.
int64_t WholeNumber(double value) {
  constexpr double kMost = 9e18;
  if (!(std::abs(value) < kMost)) return 0;
  return std::llround(value);
}

}  // namespace

Status WriteMetricTables(NsysWriter& writer) {
  const Store& store = writer.store;
  const GpuMetricsTable& metrics = store.gpu_metrics;
  std::map<std::pair<uint32_t, StringId>, int64_t> ids;
  for (size_t row = 0; row < metrics.size(); ++row) {
    ids.try_emplace({metrics.device[row], metrics.metric[row]}, static_cast<int64_t>(row));
  }
  const GpuMetricSamplesTable& samples = store.gpu_metric_samples;
  RETURN_IF_ERROR(writer.Table(nsys::kGpuMetrics, samples.size(), [&](SqliteInsert& insert) {
    for (size_t row = 0; row < samples.size(); ++row) {
      const int64_t start_ns = samples.start_ns[row];
      const auto id = ids.find({samples.device[row], samples.metric[row]});
      if (id == ids.end() || !writer.Selects(start_ns, start_ns)) continue;
      const nsys::GpuMetricValue value = {.raw_ns = writer.Time(start_ns),
                                          .start_ns = writer.Time(start_ns),
                                          .type = samples.device[row],
                                          .metric = id->second,
                                          .value = WholeNumber(samples.value[row])};
      PutRow(writer, insert, nsys::kGpuMetrics, row, value);
    }
  }));
  return writer.Table(nsys::kGpuMetricNames, ids.size(), [&](SqliteInsert& insert) {
    for (const auto& [key, id] : ids) {
      const auto row = static_cast<size_t>(id);
      const std::string_view unit = store.Text(metrics.unit[row]);
      std::string name(store.Text(key.second));
      if (!unit.empty()) name += " [" + std::string(unit) + "]";
      const std::string gpu = "GPU " + std::to_string(key.first);
      insert.Int(key.first);
      insert.Int(static_cast<int64_t>(metrics.source[row]));
      insert.Text(gpu);
      insert.Int(id);
      insert.Text(name);
      insert.Done();
    }
  });
}

}  // namespace batchlight
