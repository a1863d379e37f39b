// What CUPTI's counter interfaces look like in memory, as of CUDA 13.0, declared here so that
// neither building nor running needs CUDA's headers. Every function takes one struct that says how
// long it is: a newer CUPTI, whose structs are longer, takes ours. tests/cuda/abi_check.cpp
// compares all of it with the real headers where a toolkit is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::counters {

inline constexpr uint32_t kSuccess = 0;

// CUpti_ProfilerType
enum ProfilerType : uint32_t { kRangeProfiler = 0, kPmSampling = 1 };
// CUpti_MetricType
enum MetricType : uint32_t { kCounterMetric = 0, kRatioMetric = 1, kThroughputMetric = 2 };
// CUpti_ProfilerRange
enum RangeMode : uint32_t { kAutoRange = 1, kUserRange = 2 };
// CUpti_ProfilerReplayMode
enum ReplayMode : uint32_t { kApplicationReplay = 1, kKernelReplay = 2, kUserReplay = 3 };
// CUpti_PmSampling_TriggerMode
enum TriggerMode : uint32_t { kSysclkInterval = 0, kTimeInterval = 1 };
// CUpti_PmSampling_HardwareBuffer_AppendMode
enum AppendMode : uint32_t { kKeepOldest = 0, kKeepLatest = 1 };
// CUpti_PmSampling_DecodeStopReason
enum DecodeStop : uint32_t { kStopOther = 0, kCounterDataFull = 1, kEndOfRecords = 2 };

// `last` is the member with which the struct ends for CUPTI, which leaves padding out.
#define PARAMS(last) \
  static constexpr size_t Bytes() { return offsetof(Self, last) + sizeof(last); }

struct InitializeParams {
  using Self = InitializeParams;
  size_t struct_size;
  void* priv;
  PARAMS(priv)
};

struct ChipNameParams {
  using Self = ChipNameParams;
  size_t struct_size;
  void* priv;
  size_t device;
  const char* chip;
  PARAMS(chip)
};

// Of a context (cuptiProfilerGetCounterAvailability).
struct AvailabilityParams {
  using Self = AvailabilityParams;
  size_t struct_size;
  void* priv;
  void* context;
  size_t image_bytes;
  uint8_t* image;
  PARAMS(image)
};

// --- on the host: no GPU needed ------------------------------------------------------------------
struct HostInitializeParams {
  using Self = HostInitializeParams;
  size_t struct_size;
  void* priv;
  uint32_t type;
  const char* chip;
  const uint8_t* availability;
  void* host;
  PARAMS(host)
};

struct HostDeinitializeParams {
  using Self = HostDeinitializeParams;
  size_t struct_size;
  void* priv;
  void* host;
  PARAMS(host)
};

struct SupportedChipsParams {
  using Self = SupportedChipsParams;
  size_t struct_size;
  void* priv;
  size_t count;
  const char* const* names;
  PARAMS(names)
};

struct BaseMetricsParams {
  using Self = BaseMetricsParams;
  size_t struct_size;
  void* priv;
  void* host;
  uint32_t type;
  const char** names;
  size_t count;
  PARAMS(count)
};

struct MetricPropertiesParams {
  using Self = MetricPropertiesParams;
  size_t struct_size;
  void* priv;
  void* host;
  const char* name;
  const char* description;
  const char* hardware_unit;
  const char* dimension;
  uint32_t type;
  PARAMS(type)
};

struct AddMetricsParams {
  using Self = AddMetricsParams;
  size_t struct_size;
  void* priv;
  void* host;
  const char* const* names;
  size_t count;
  PARAMS(count)
};

struct ConfigImageSizeParams {
  using Self = ConfigImageSizeParams;
  size_t struct_size;
  void* priv;
  void* host;
  size_t image_bytes;
  PARAMS(image_bytes)
};

struct ConfigImageParams {
  using Self = ConfigImageParams;
  size_t struct_size;
  void* priv;
  void* host;
  size_t image_bytes;
  uint8_t* image;
  PARAMS(image)
};

struct PassesParams {
  using Self = PassesParams;
  size_t struct_size;
  void* priv;
  size_t image_bytes;
  uint8_t* image;
  size_t passes;
  PARAMS(passes)
};

struct EvaluateParams {
  using Self = EvaluateParams;
  size_t struct_size;
  void* priv;
  void* host;
  const uint8_t* data;
  size_t data_bytes;
  size_t range;
  const char* const* names;
  size_t count;
  double* values;
  PARAMS(values)
};

// --- ranges of a context -------------------------------------------------------------------------
struct RangeEnableParams {
  using Self = RangeEnableParams;
  size_t struct_size;
  void* priv;
  void* context;
  void* profiler;
  PARAMS(profiler)
};

// Disable, Start and PopRange.
struct RangeObjectParams {
  using Self = RangeObjectParams;
  size_t struct_size;
  void* priv;
  void* profiler;
  PARAMS(profiler)
};

struct RangeConfigParams {
  using Self = RangeConfigParams;
  size_t struct_size;
  void* priv;
  void* profiler;
  size_t config_bytes;
  const uint8_t* config;
  size_t data_bytes;
  uint8_t* data;
  uint32_t range;
  uint32_t replay;
  size_t most_ranges;
  uint16_t nesting_levels;
  uint16_t least_nesting_level;
  size_t pass;
  uint16_t target_nesting_level;
  PARAMS(target_nesting_level)
};

struct RangeStopParams {
  using Self = RangeStopParams;
  size_t struct_size;
  void* priv;
  void* profiler;
  size_t pass;
  size_t target_nesting_level;
  uint8_t all_passes_submitted;
  PARAMS(all_passes_submitted)
};

struct PushRangeParams {
  using Self = PushRangeParams;
  size_t struct_size;
  void* priv;
  void* profiler;
  const char* name;
  PARAMS(name)
};

struct RangeDecodeParams {
  using Self = RangeDecodeParams;
  size_t struct_size;
  void* priv;
  void* profiler;
  size_t dropped;
  PARAMS(dropped)
};

struct RangeDataSizeParams {
  using Self = RangeDataSizeParams;
  size_t struct_size;
  void* priv;
  void* profiler;
  const char* const* names;
  size_t count;
  size_t most_ranges;
  uint32_t most_nodes;
  size_t data_bytes;
  PARAMS(data_bytes)
};

// Of ranges and of samples.
struct DataInitializeParams {
  using Self = DataInitializeParams;
  size_t struct_size;
  void* priv;
  void* object;
  size_t data_bytes;
  uint8_t* data;
  PARAMS(data)
};

struct RangeDataInfoParams {
  using Self = RangeDataInfoParams;
  size_t struct_size;
  void* priv;
  const uint8_t* data;
  size_t data_bytes;
  size_t ranges;
  PARAMS(ranges)
};

struct RangeInfoParams {
  using Self = RangeInfoParams;
  size_t struct_size;
  void* priv;
  const uint8_t* data;
  size_t data_bytes;
  size_t range;
  const char* delimiter;
  const char* name;
  PARAMS(name)
};

// --- samples of a device -------------------------------------------------------------------------
struct PmAvailabilityParams {
  using Self = PmAvailabilityParams;
  size_t struct_size;
  void* priv;
  size_t device;
  size_t image_bytes;
  uint8_t* image;
  PARAMS(image)
};

struct PmEnableParams {
  using Self = PmEnableParams;
  size_t struct_size;
  void* priv;
  size_t device;
  void* sampler;
  PARAMS(sampler)
};

// Disable, Start and Stop.
struct PmObjectParams {
  using Self = PmObjectParams;
  size_t struct_size;
  void* priv;
  void* sampler;
  PARAMS(sampler)
};

struct PmConfigParams {
  using Self = PmConfigParams;
  size_t struct_size;
  void* priv;
  void* sampler;
  size_t config_bytes;
  const uint8_t* config;
  size_t hardware_buffer_bytes;
  uint64_t interval;
  uint32_t trigger;
  uint32_t append;
  PARAMS(append)
};

struct PmDataSizeParams {
  using Self = PmDataSizeParams;
  size_t struct_size;
  void* priv;
  void* sampler;
  const char* const* names;
  size_t count;
  uint32_t most_samples;
  size_t data_bytes;
  PARAMS(data_bytes)
};

struct PmDecodeParams {
  using Self = PmDecodeParams;
  size_t struct_size;
  void* priv;
  void* sampler;
  uint8_t* data;
  size_t data_bytes;
  uint32_t stop;
  uint8_t overflow;
  PARAMS(overflow)
};

struct PmDataInfoParams {
  using Self = PmDataInfoParams;
  size_t struct_size;
  void* priv;
  const uint8_t* data;
  size_t data_bytes;
  size_t total;
  size_t populated;
  size_t completed;
  PARAMS(completed)
};

struct PmSampleInfoParams {
  using Self = PmSampleInfoParams;
  size_t struct_size;
  void* priv;
  void* sampler;
  const uint8_t* data;
  size_t data_bytes;
  size_t sample;
  uint64_t start_ns;
  uint64_t end_ns;
  PARAMS(end_ns)
};

#undef PARAMS

}  // namespace batchlight::counters
