// The metrics of a monitored job as Prometheus reads them (text format 0.0.4).
#pragma once

#include <span>
#include <string>

#include "capture/monitor/metric_points.h"

namespace batchlight::capture {

std::string MetricsText(std::span<const Metric> metrics);

}  // namespace batchlight::capture
