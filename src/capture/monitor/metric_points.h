// The metrics of a monitored job (metrics.def) as values, before somebody writes them in the form
// that Prometheus or a collector of OpenTelemetry reads.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "capture/monitor/step_reader.h"

namespace batchlight::capture {

struct MetricsInput {
  std::vector<const ProcessSteps*> processes;
  std::string version;               // of batchlight
  uint32_t windows = 0;              // recorded so far
  int64_t monotonic_to_unix_ns = 0;  // CLOCK_REALTIME less CLOCK_MONOTONIC
};

enum class MetricType : uint8_t { kGauge, kCounter, kSummary };

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// Values are numbers as text.
struct MetricPoint {
  MetricLabels labels;
  std::string value;                                           // of a summary: its sum
  std::string count;                                           // of a summary
  std::vector<std::pair<std::string, std::string>> quantiles;  // of a summary: "0.5", its value
};

struct Metric {
  const char* name;
  const char* help;
  MetricType type;
  std::vector<MetricPoint> points;
};

// All of metrics.def, in its order.
std::vector<Metric> MetricsOf(const MetricsInput& input);

}  // namespace batchlight::capture
