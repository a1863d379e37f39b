#include "capture/monitor/metrics.h"

namespace batchlight::capture {
namespace {

const char* TypeName(MetricType type) {
  if (type == MetricType::kGauge) return "gauge";
  return type == MetricType::kCounter ? "counter" : "summary";
}

void AddLine(const std::string& name, const MetricLabels& labels, const std::string& value,
             std::string& text) {
  text += name;
  const char* between = "{";
  for (const auto& [label, labelled] : labels) {
    text += between + label + "=\"" + labelled + "\"";
    between = ",";
  }
  text += (labels.empty() ? " " : "} ") + value + "\n";
}

}  // namespace

std::string MetricsText(std::span<const Metric> metrics) {
  std::string text;
  for (const Metric& metric : metrics) {
    const std::string name = metric.name;
    text += "# HELP " + name + " " + metric.help + "\n# TYPE " + name + " " +
            TypeName(metric.type) + "\n";
    for (const MetricPoint& point : metric.points) {
      if (metric.type != MetricType::kSummary) {
        AddLine(name, point.labels, point.value, text);
        continue;
      }
      for (const auto& [quantile, value] : point.quantiles) {
        MetricLabels labels = point.labels;
        labels.emplace_back("quantile", quantile);
        AddLine(name, labels, value, text);
      }
      AddLine(name + "_sum", point.labels, point.value, text);
      AddLine(name + "_count", point.labels, point.count, text);
    }
  }
  return text;
}

}  // namespace batchlight::capture
