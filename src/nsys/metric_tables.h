// Metrics of GPUs over time in nsys's file: whole numbers, such as percent. The store's own table
// has them as they were measured, and is read instead where the file has it.
#pragma once

#include "nsys/table.h"
#include "store/store.h"

namespace batchlight::nsys {

struct GpuMetricValue {
  int64_t raw_ns = 0;  // on the GPU's clock
  int64_t start_ns = 0;
  int64_t type = 0;  // source and GPU
  int64_t metric = 0;
  int64_t value = 0;
};
inline constexpr Table kGpuMetrics{"GPU_METRICS",
                                   kNothing,
                                   Field<&GpuMetricValue::raw_ns>{"rawTimestamp!"},
                                   Field<&GpuMetricValue::start_ns>{"timestamp!"},
                                   Field<&GpuMetricValue::type>{"typeId!"},
                                   Field<&GpuMetricValue::metric>{"metricId!"},
                                   Field<&GpuMetricValue::value>{"value!"}};

struct GpuMetricName {
  int64_t type = 0;
  int64_t source = 0;
  StringId type_name;
  int64_t metric = 0;
  StringId name;  // "SMs Active [Throughput %]"
};
inline constexpr Table kGpuMetricNames{"TARGET_INFO_GPU_METRICS",
                                       kNothing,
                                       Field<&GpuMetricName::type>{"typeId!"},
                                       Field<&GpuMetricName::source>{"sourceId!"},
                                       TextField<&GpuMetricName::type_name>{"typeName!"},
                                       Field<&GpuMetricName::metric>{"metricId!"},
                                       TextField<&GpuMetricName::name>{"metricName!"}};

// The lowest byte of a type is the GPU.
constexpr uint32_t DeviceOfMetricType(int64_t type) { return static_cast<uint32_t>(type & 0xff); }

}  // namespace batchlight::nsys
