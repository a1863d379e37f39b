// Takes apart what host_query writes while it samples GPUs (counters/sample_stream.h), as it comes
// out of a pipe: in pieces of any size.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight::capture {

struct GpuMetricDefinition {
  uint32_t device = 0;
  uint32_t source = 0;  // as format's GpuMetric
  uint64_t interval_ns = 0;
  std::string uuid;
  std::string name;
  std::string unit;
};

struct GpuSample {
  uint64_t start_ns = 0;  // CLOCK_MONOTONIC
  uint32_t device = 0;
  uint32_t source = 0;
  std::vector<float> values;  // in the order of the definitions of this device and source
};

class SampleFrames {
 public:
  std::function<void(const GpuMetricDefinition&)> on_metric;
  std::function<void(const GpuSample&)> on_sample;
  std::function<void(std::string_view)> on_reason;
  std::function<void(uint64_t)> on_lost;

  // False: this is not what host_query writes, and nothing more will be taken.
  bool Take(std::string_view bytes);

 private:
  bool TakeFrame(uint32_t kind, std::string_view body);

  std::string rest_;  // of the last piece: part of a frame
  bool is_broken_ = false;
};

}  // namespace batchlight::capture
