#include "ingest/decode/counter_decoder.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "store/stall_samples.h"

namespace batchlight {

using format::RecordKind;

void CounterDecoder::Decode(const format::RecordView& view) {
  switch (view.kind) {
    case RecordKind::kCounterRange:
      return Take(view.As<format::CounterRangeRecord>(), view.ticks);
    case RecordKind::kCounterValue:
      return Take(view.As<format::CounterValueRecord>());
    case RecordKind::kGpuMetric:
      return Take(view.As<format::GpuMetricRecord>());
    case RecordKind::kGpuMetricSample:
      return TakeSample(view);
    case RecordKind::kStallWindow:
      return Take(view.As<format::StallWindowRecord>(), view.ticks);
    default:
      return;
  }
}

// `row` but for its times.
void CounterDecoder::AddRange(uint64_t end_ticks, uint64_t length_ticks, uint64_t switch_ns,
                              CounterRangesRow row) {
  row.end_ns = context_.Time(end_ticks);  // some are written where the iteration ends
  row.start_ns =
      std::max<int64_t>(0, row.end_ns - std::max<int64_t>(0, context_.LengthNs(length_ticks)));
  row.switch_ns = static_cast<int64_t>(std::min<uint64_t>(switch_ns, INT64_MAX - 1));
  context_.fragment.store.counter_ranges.Append(row);
}

void CounterDecoder::Take(const format::CounterRangeRecord& record, uint64_t ticks) {
  AddRange(ticks, record.ticks, record.switch_ns,
           {.process = context_.process,
            .device = record.device,
            .context = record.context,
            .range = record.range,
            .kernels = record.kernels,
            .iteration = record.iteration,
            .counter_set = context_.String(record.counter_set)});
}

void CounterDecoder::Take(const format::CounterValueRecord& record) {
  context_.fragment.store.counter_values.Append({.process = context_.process,
                                                 .range = record.range,
                                                 .launch = record.kernel,
                                                 .metric = context_.String(record.metric),
                                                 .value = record.value});
}

void CounterDecoder::Take(const format::GpuMetricRecord& record) {
  const StringId name = context_.String(record.name);
  // Samples look for ids by halving: damage must not disturb the order.
  if (metrics_.empty() || metrics_.back().id < record.id) {
    metrics_.push_back({record.id, record.device, name});
  }
  // Defined again in each chunk of the tool; ingest/recording/gpu_counters.cpp leaves one of each.
  context_.fragment.store.gpu_metrics.Append(
      {.device = record.device,
       .uuid = context_.String(record.uuid),
       .metric = name,
       .unit = context_.String(record.unit),
       .source = static_cast<GpuMetricSource>(std::min<uint32_t>(record.source, UINT8_MAX)),
       .interval_ns = static_cast<int64_t>(std::min<uint64_t>(record.interval_ns, INT64_MAX - 1))});
}

// The step is one in which the GPU was looked at; what it showed: stall_samples.cpp.
void CounterDecoder::Take(const format::StallWindowRecord& record, uint64_t ticks) {
  constexpr uint32_t kSerialized = 1;
  constexpr uint32_t kNoRange = uint32_t{1} << 31;  // numbers of ranges are far below
  const bool serialized = (record.flags & kSerialized) != 0;
  AddRange(ticks, record.ticks, record.switch_ns,
           {.process = context_.process,
            .device = record.device,
            .context = record.context,
            .range = record.window | kNoRange,
            .iteration = record.iteration,
            .counter_set = context_.fragment.store.strings.Intern(serialized ? kSerializedStalls
                                                                             : kContinuousStalls)});
}

void CounterDecoder::TakeSample(const format::RecordView& view) {
  const auto record = view.As<format::GpuMetricSampleRecord>();
  const std::string_view bytes = view.BytesAfter<format::GpuMetricSampleRecord>(record.byte_count);
  const int64_t start_ns = context_.FromMonotonic(
      static_cast<int64_t>(std::min<uint64_t>(record.start_ns, INT64_MAX - 1)));
  auto metric = std::lower_bound(metrics_.begin(), metrics_.end(), record.first_metric,
                                 [](const Metric& m, uint32_t id) { return m.id < id; });
  for (size_t at = 0; at + sizeof(float) <= bytes.size() && metric != metrics_.end();
       at += sizeof(float), ++metric) {
    float value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    if (value != value) continue;  // NaN: not to be had
    context_.fragment.store.gpu_metric_samples.Append({.start_ns = std::max<int64_t>(0, start_ns),
                                                       .device = metric->device,
                                                       .metric = metric->name,
                                                       .value = value});
  }
}

}  // namespace batchlight
