#include "capture/recording/tool_log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

// Room for the longest string twice: a key and a value.
constexpr size_t kChunkBytes = 256 * 1024;

size_t StringBytes(std::string_view text) {
  return sizeof(format::StringRecord) + 8 + format::PadTo8(text.size());
}

std::string_view Cut(std::string_view text) { return text.substr(0, format::kMaxStringBytes); }

}  // namespace

template <typename AddRecord>
bool ToolLog::Append(size_t bytes, AddRecord&& add) {
  const int64_t now = MonotonicNow();
  format::ChunkWriter* writer = chunks_.ForRecord(bytes, now);
  if (writer == nullptr) return false;
  if (chunks_.chunk_index() != chunk_) {  // a new chunk defines nothing yet
    chunk_ = chunks_.chunk_index();
    gpu_metrics_written_ = 0;
  }
  add(*writer, static_cast<uint64_t>(now));
  return true;
}

Result<ToolLog> ToolLog::Create(const LiveFolder& live_folder) {
  ASSIGN_OR_RETURN(ToolChunks chunks, ToolChunks::Create(live_folder, {kToolFile, 0, kChunkBytes}));
  ToolLog log(std::move(chunks));
  if (!log.Append(sizeof(format::ClockSyncRecord), [](format::ChunkWriter&, uint64_t) {})) {
    return OutputError("cannot write " + live_folder.path() + "/" + kToolFile + ": " +
                       std::strerror(errno));
  }
  return log;
}

void ToolLog::AddProperty(std::string_view key, std::string_view value) {
  key = Cut(key);
  value = Cut(value);
  Append(StringBytes(key) + StringBytes(value) + sizeof(format::PropertyRecord),
         [&](format::ChunkWriter& writer, uint64_t now) {
           format::PropertyRecord record{};
           record.key = writer.AddString(key, now);
           record.value = writer.AddString(value, now);
           writer.Add(record, now);
         });
}

void ToolLog::AddReason(std::string_view feature, std::string_view text) {
  text = Cut(text);
  Append(StringBytes(feature) + StringBytes(text) + sizeof(format::ReasonRecord),
         [&](format::ChunkWriter& writer, uint64_t now) {
           format::ReasonRecord record{};
           record.feature = writer.AddString(feature, now);
           record.text = writer.AddString(text, now);
           writer.Add(record, now);
         });
}

void ToolLog::AddCounter(format::Counter counter, uint64_t value) {
  format::CounterRecord record{};
  record.counter = static_cast<uint32_t>(counter);
  record.value = value;
  Append(sizeof record,
         [&](format::ChunkWriter& writer, uint64_t now) { writer.Add(record, now); });
}

void ToolLog::DefineGpuMetric(const GpuMetricDefinition& metric) {
  constexpr size_t kMost = 1024;  // a thousand take a quarter of a chunk
  if (gpu_metrics_.size() < kMost) gpu_metrics_.push_back(metric);
}

void ToolLog::WriteGpuMetrics(format::ChunkWriter& writer, uint64_t now) {
  for (; gpu_metrics_written_ < gpu_metrics_.size(); ++gpu_metrics_written_) {
    const GpuMetricDefinition& metric = gpu_metrics_[gpu_metrics_written_];
    format::GpuMetricRecord record{};
    record.id = static_cast<uint32_t>(gpu_metrics_written_ + 1);
    record.device = metric.device;
    record.uuid = writer.AddString(Cut(metric.uuid), now);
    record.name = writer.AddString(Cut(metric.name), now);
    record.unit = writer.AddString(Cut(metric.unit), now);
    record.source = metric.source;
    record.interval_ns = metric.interval_ns;
    writer.Add(record, now);
  }
}

void ToolLog::AddGpuSample(const GpuSample& sample) {
  const auto first = std::find_if(
      gpu_metrics_.begin(), gpu_metrics_.end(), [&](const GpuMetricDefinition& metric) {
        return metric.device == sample.device && metric.source == sample.source;
      });
  if (first == gpu_metrics_.end()) return;
  size_t definitions = 0;
  for (const GpuMetricDefinition& metric : gpu_metrics_) {
    definitions += sizeof(format::GpuMetricRecord) + StringBytes(metric.uuid) +
                   StringBytes(metric.name) + StringBytes(metric.unit);
  }
  const std::string_view bytes(reinterpret_cast<const char*>(sample.values.data()),
                               sample.values.size() * sizeof(float));
  const bool defined = gpu_metrics_written_ == gpu_metrics_.size();
  const size_t room = sizeof(format::GpuMetricSampleRecord) + 8 + format::PadTo8(bytes.size());
  if (definitions + room > kChunkBytes / 2) return;
  // In a chunk of its own the definitions come first.
  Append(room + (defined ? 0 : definitions), [&](format::ChunkWriter& writer, uint64_t now) {
    if (gpu_metrics_written_ != gpu_metrics_.size()) WriteGpuMetrics(writer, now);
    format::GpuMetricSampleRecord record{};
    record.start_ns = sample.start_ns;
    record.first_metric = static_cast<uint32_t>(first - gpu_metrics_.begin() + 1);
    record.byte_count = static_cast<uint32_t>(bytes.size());
    writer.AddWithBytes(record, bytes, now);
  });
}

void ToolLog::AddProcessStatus(const format::ProcessStatusRecord& status) {
  Append(sizeof status,
         [&](format::ChunkWriter& writer, uint64_t now) { writer.Add(status, now); });
}

void ToolLog::AddCaptureWindow(uint32_t capture_index, bool on) {
  SetCapture(capture_index);
  format::CaptureWindowRecord window{};
  window.capture_index = capture_index;
  window.on = on ? 1 : 0;
  Append(sizeof window,
         [&](format::ChunkWriter& writer, uint64_t now) { writer.Add(window, now); });
}

}  // namespace batchlight::capture
