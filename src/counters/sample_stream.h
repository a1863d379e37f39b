// What host_query writes to its standard output when it samples GPUs, and capture reads: frames of
// a head and `bytes` bytes. Numbers as the machine has them: it is the same machine.
#pragma once

#include <cstdint>

namespace batchlight::counters {

enum class FrameKind : uint32_t {
  kMetric = 1,  // MetricFrame, then uuid, name and unit, each with its NUL
  kSample = 2,  // SampleFrame, then a float for each metric of the source on that device, in order
  kReason = 3,  // one sentence
  kLost = 4,    // LostFrame
};

struct FrameHead {
  FrameKind kind;
  uint32_t bytes;
};

struct MetricFrame {
  uint64_t interval_ns;
  uint32_t device;
  uint32_t source;  // as GpuMetric::source
};

struct SampleFrame {
  uint64_t start_ns;  // CLOCK_MONOTONIC
  uint32_t device;
  uint32_t source;
};

struct LostFrame {
  uint64_t samples;  // at least so many
};

inline constexpr uint32_t kMostFrameBytes = 16 * 1024;

}  // namespace batchlight::counters
