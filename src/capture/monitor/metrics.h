// The metrics of a monitored job as Prometheus reads them (text format 0.0.4).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/monitor/step_reader.h"

namespace batchlight::capture {

struct MetricsInput {
  std::vector<const ProcessSteps*> processes;
  std::string version;               // of batchlight
  uint32_t windows = 0;              // recorded so far
  int64_t monotonic_to_unix_ns = 0;  // CLOCK_REALTIME less CLOCK_MONOTONIC
};

std::string MetricsText(const MetricsInput& input);

}  // namespace batchlight::capture
