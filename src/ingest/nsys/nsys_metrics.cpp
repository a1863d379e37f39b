// Metrics of GPUs over time, as nsys has them.
#include <map>
#include <string_view>
#include <utility>

#include "ingest/nsys/nsys_rows.h"
#include "nsys/metric_tables.h"

namespace batchlight::nsys {
namespace {

struct NameAndUnit {
  std::string_view name;
  std::string_view unit;
};

// "SMs Active [Throughput %]" is in "Throughput %".
NameAndUnit SplitUnit(std::string_view text) {
  const size_t open = text.rfind(" [");
  if (open == text.npos || !text.ends_with(']')) return {text, ""};
  return {text.substr(0, open), text.substr(open + 2, text.size() - open - 3)};
}

}  // namespace

Status LoadGpuMetrics(Load& load) {
  Store& store = *load.store;
  if (store.gpu_metric_samples.size() != 0) return {};  // an export of ours, which has them in full
  std::map<std::pair<int64_t, int64_t>, StringId> names;
  RETURN_IF_ERROR(VisitRows<GpuMetricName>(load, kGpuMetricNames, [&](const GpuMetricName& row) {
    const auto [place, added] = names.try_emplace({row.type, row.metric});
    if (!added) return;
    // What is interned may move what it is taken from.
    const std::string text(store.Text(row.name));
    const NameAndUnit parts = SplitUnit(text);
    place->second = store.strings.Intern(parts.name);
    store.gpu_metrics.Append({.device = DeviceOfMetricType(row.type),
                              .uuid = StringId::None(),
                              .metric = place->second,
                              .unit = store.strings.Intern(parts.unit),
                              .source = GpuMetricSource::kCounters});
  }));
  return VisitRows<GpuMetricValue>(load, kGpuMetrics, [&](const GpuMetricValue& row) {
    const auto name = names.find({row.type, row.metric});
    if (name == names.end() || row.start_ns < 0) return;
    store.gpu_metric_samples.Append({.start_ns = row.start_ns,
                                     .device = DeviceOfMetricType(row.type),
                                     .metric = name->second,
                                     .value = static_cast<double>(row.value)});
  });
}

}  // namespace batchlight::nsys
